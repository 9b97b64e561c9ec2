import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useState } from 'react'
import { apiErrorOf } from '../../api/client.ts'
import { errorMessage } from '../../api/error-message.ts'
import { bytes, count, t } from '../../i18n/index.ts'
import { linkOf, type ImageRecord } from './gallery.tsx'
import type { TextKey } from '../../i18n/texts.ts'
import { linksOf } from './links.ts'
import { Icon } from '../../design/elements.tsx'
import { CopyButton } from '../../design/buttons.tsx'
import { TextField, SelectField } from '../../design/field.tsx'

interface Choice {
  readonly width: string
  readonly height: string
  readonly fit: (typeof FITS)[number]
  readonly format: string
  readonly quality: string
  readonly turn: string
  readonly effects: readonly string[]
}

const AS_IS: Choice = {
  width: '640',
  height: '',
  fit: '',
  format: 'f_webp',
  quality: '',
  turn: '',
  effects: [],
}
const FITS = ['', 'c_fill', 'c_pad', 'c_crop', 'c_scale'] as const
const FORMATS = ['', 'f_webp', 'f_avif', 'f_jpg', 'f_png', 'f_gif'] as const
const TURNS = ['', 'r_90', 'r_180', 'r_270'] as const
const EFFECTS = [
  ['gray', 'images.gray'],
  ['sharpen', 'images.sharpen'],
  ['flip', 'images.flip'],
  ['flop', 'images.flop'],
  ['trim', 'images.trim'],
] as const

function modifierOf({ width, height, fit, format, quality, turn, effects }: Choice): string {
  const size = [width && `w_${width}`, height && `h_${height}`]
  return [...size, fit, turn, ...effects, format, quality && `q_${quality}`]
    .filter((one) => one !== '')
    .join(',')
}

/** Tries modifiers and shows the result: the image, its URL, size and format. */
export function TransformPlayground({ image }: { image: ImageRecord }) {
  const [choice, setChoice] = useState(AS_IS)
  const modifier = modifierOf(choice)
  const asked = useDeferredValue(modifier)
  const result = useResult(image, asked)
  const set = (change: Partial<Choice>) => setChoice({ ...choice, ...change })
  const [made, setMade] = useState<{ readonly width: number; readonly height: number }>()
  const saved = result.data === undefined ? undefined : Math.round((1 - result.data.size / image.size) * 100)
  const number = (name: 'width' | 'height' | 'quality', maxLength: number) => (
    <TextField
      label={t(`images.${name}`)}
      inputMode="numeric"
      maxLength={maxLength}
      placeholder={name === 'quality' ? 'auto' : undefined}
      value={choice[name]}
      onChange={(text) => set({ [name]: text.replace(/\D/g, '') })}
    />
  )
  const select = (name: 'format' | 'turn', options: readonly string[]) => (
    <SelectField
      label={t(`images.${name}`)}
      value={choice[name]}
      options={options}
      textOf={(option) => (option === '' ? t('images.asIs') : option.slice(2))}
      onChange={(option) => set({ [name]: option })}
    />
  )
  return (
    <section className="stack" aria-label={t('images.bench')}>
      <h3>{t('images.bench')}</h3>
      <div className="bench-result" aria-busy={result.isFetching}>
        {result.error !== null && (
          <p className="callout danger" role="alert">
            {errorMessage(result.error)}
          </p>
        )}
        {result.data !== undefined && result.error === null && (
          <>
            <Picture blob={result.data} name={image.name} onSize={setMade} />
            <p className="figures" role="status">
              {result.data.type}
              {made !== undefined && ` · ${sizeText(choice, made)}`} · {bytes(result.data.size)}
              {saved !== undefined && (
                <strong className={saved >= 0 ? 'good-text' : 'fault-text'}>
                  {' '}
                  {t(saved >= 0 ? 'images.benchSaved' : 'images.benchMore', { n: count(Math.abs(saved)) })}
                </strong>
              )}
            </p>
          </>
        )}
      </div>
      <div className="bench-fields">
        {number('width', 4)}
        {number('height', 4)}
        <SelectField
          label={t('images.fit')}
          value={choice.fit}
          options={FITS}
          textOf={(fit) => t(fit === '' ? 'images.asIs' : `images.fit.${fit}`)}
          onChange={(fit) => set({ fit })}
        />
        {select('format', FORMATS)}
        {number('quality', 3)}
        {select('turn', TURNS)}
      </div>
      <div className="chips" role="group" aria-label={t('images.effects')}>
        {EFFECTS.map(([token, label]) => {
          const isOn = choice.effects.includes(token)
          const effects = isOn ? choice.effects.filter((one) => one !== token) : [...choice.effects, token]
          return (
            <button
              key={token}
              type="button"
              className="chip"
              aria-pressed={isOn}
              onClick={() => set({ effects })}
            >
              {t(label)}
            </button>
          )
        })}
      </div>
      <code className="address">{linkOf(image.hash, modifier)}</code>
      {modifier !== '' && <CopyLinks image={image} modifier={modifier} />}
    </section>
  )
}

/** Rendered by the service, and fetched to measure its size. */
function useResult({ hash }: ImageRecord, modifier: string) {
  return useQuery({
    queryKey: ['images', 'bench', hash, modifier],
    retry: false,
    gcTime: 30_000,
    queryFn: async ({ signal }) => {
      const response = await fetch(linkOf(hash, modifier), { signal, credentials: 'omit' })
      if (!response.ok) {
        const answer: unknown = await response.json().catch(() => undefined)
        throw apiErrorOf(response.status, answer, response.headers.get('retry-after'))
      }
      return response.blob()
    },
  })
}

/** Images are not enlarged, and keep their proportions. */
function sizeText(
  { width, height }: Choice,
  made: { readonly width: number; readonly height: number },
): string {
  const text = `${count(made.width)} × ${count(made.height)}`
  for (const [asked, side] of [
    [width, made.width],
    [height, made.height],
  ] as const)
    if (asked !== '' && Number(asked) !== side)
      return `${text} (${t('images.benchSmaller', { asked: Number(asked), made: side })})`
  return text
}

function Picture(props: {
  blob: Blob
  name: string
  onSize: (size: { readonly width: number; readonly height: number }) => void
}) {
  const { blob, name, onSize } = props
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return url === undefined ? null : (
    <img
      src={url}
      alt={name}
      onLoad={({ currentTarget }) =>
        onSize({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight })
      }
    />
  )
}

const KINDS = [
  ['url', 'images.linkUrl'],
  ['html', 'images.linkHtml'],
  ['markdown', 'images.linkMarkdown'],
  ['bbcode', 'images.linkBbcode'],
] as const satisfies readonly (readonly [string, TextKey])[]

/** Buttons that copy the link in the format of each target. */
export function CopyLinks({ image, modifier = '' }: { image: ImageRecord; modifier?: string }) {
  const title = t(modifier === '' ? 'images.links' : 'images.resultLinks')
  const links = linksOf(image, (one) => linkOf(image.hash, one), modifier)
  return (
    <section className="stack" aria-label={title}>
      <h3>{title}</h3>
      <div className="row">
        {KINDS.map(([kind, label]) => (
          <CopyButton key={kind} text={links[kind]} label={t(label)} />
        ))}
        <a className="button quiet" href={links.url} target="_blank" rel="noreferrer">
          <Icon name="out" />
          {t('images.openLink')}
        </a>
      </div>
    </section>
  )
}
