import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useState, type ReactNode } from 'react'
import { apiErrorOf } from '../../api/client.ts'
import { errorMessage } from '../../api/error-message.ts'
import { bytes, count, t } from '../../i18n/index.ts'
import { linkOf, type ImageRecord } from './gallery.ts'
import type { TextKey } from '../../i18n/texts.ts'
import { linksOf } from './links.ts'
import { CopyButton } from '../../design/copy-button.tsx'
import { Icon } from '../../design/icon.tsx'
import './transform-playground.css'

interface Choice {
  readonly width: string
  readonly height: string
  readonly fit: string
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
  const saved = result.data === undefined ? undefined : Math.round((1 - result.data.size / image.size) * 100)
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
            <Picture blob={result.data} name={image.name} />
            <p className="figures" role="status">
              {result.data.type} · {bytes(result.data.size)}
              {saved !== undefined && (
                <strong className={saved >= 0 ? 'less' : 'fault-text'}>
                  {' '}
                  {t(saved >= 0 ? 'images.benchSaved' : 'images.benchMore', { n: count(Math.abs(saved)) })}
                </strong>
              )}
            </p>
          </>
        )}
      </div>
      <div className="bench-fields">
        <Field label={t('images.width')}>
          <input
            className="input"
            inputMode="numeric"
            maxLength={4}
            value={choice.width}
            onChange={(event) => set({ width: digits(event.target.value) })}
          />
        </Field>
        <Field label={t('images.height')}>
          <input
            className="input"
            inputMode="numeric"
            maxLength={4}
            value={choice.height}
            onChange={(event) => set({ height: digits(event.target.value) })}
          />
        </Field>
        <Field label={t('images.fit')}>
          <Select value={choice.fit} options={FITS} onChange={(fit) => set({ fit })} />
        </Field>
        <Field label={t('images.format')}>
          <Select value={choice.format} options={FORMATS} onChange={(format) => set({ format })} />
        </Field>
        <Field label={t('images.quality')}>
          <input
            className="input"
            inputMode="numeric"
            maxLength={3}
            placeholder="auto"
            value={choice.quality}
            onChange={(event) => set({ quality: digits(event.target.value) })}
          />
        </Field>
        <Field label={t('images.turn')}>
          <Select value={choice.turn} options={TURNS} onChange={(turn) => set({ turn })} />
        </Field>
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

const digits = (text: string) => text.replace(/\D/g, '')

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

function Picture({ blob, name }: { blob: Blob; name: string }) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return url === undefined ? null : <img src={url} alt={name} />
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <label className="field">
      <span>{label}</span>
      {children}
    </label>
  )
}

function Select(props: { value: string; options: readonly string[]; onChange: (value: string) => void }) {
  return (
    <select className="input" value={props.value} onChange={(event) => props.onChange(event.target.value)}>
      {props.options.map((option) => (
        <option key={option} value={option}>
          {option === '' ? t('images.asIs') : option.slice(2)}
        </option>
      ))}
    </select>
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
