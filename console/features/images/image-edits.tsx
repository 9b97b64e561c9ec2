import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { callApi, type ApiResult } from '../../api/client.ts'
import { Button, IconButton, Link } from '../../design/elements.tsx'
import { CopyButton } from '../../design/copy-button.tsx'
import { TextField } from '../../design/field.tsx'
import { t } from '../../i18n/index.ts'
import { runOperation, toOperation } from '../work/operations.ts'
import { linkOf, type ImageRecord } from './gallery.ts'
import './image-edits.css'

const ALIASES = 'GET /api/v1/imagestore/aliases'
const PAGE_ALIASES = 1_000
/** How far an arrow key moves the focus, as a share of a side. */
const STEP = 0.05

interface Props {
  readonly image: ImageRecord
  readonly isLocked: boolean
}

function save(
  { hash, name }: ImageRecord,
  send: (key: string | undefined) => Promise<unknown>,
  onFailed = () => {},
) {
  runOperation(
    toOperation({
      service: 'imagestore',
      subject: `edits:${hash}`,
      pending: t('images.saving'),
      done: t('images.saved'),
      failed: (reason) => t('images.notSaved', { name, reason }),
      onFailed,
      shownBy: ['images'],
      send,
    }),
  )
}

const update = (hash: string, changes: { tags?: string; focus?: string }) => (key: string | undefined) =>
  callApi('POST /api/v1/imagestore/update', { query: { hash, ...changes }, key })

const setAlias = (name: string, hash: string) => (key: string | undefined) =>
  callApi('POST /api/v1/imagestore/alias', { query: { name, hash }, key })

/** The point that crops keep, set by a click or moved by arrow keys. */
export function FocusField({ image, isLocked }: Props) {
  const { hash } = image
  const [focus, setFocus] = useState(image.focus)
  const [x = 0.5, y = 0.5] = focus?.split(',').map(Number) ?? []
  const change = (next: string | null) => {
    setFocus(next)
    save(image, update(hash, { focus: next ?? '' }), () => setFocus(image.focus))
  }
  const move = (right: number, down: number) => change(`${toShare(x + right)},${toShare(y + down)}`)
  const press = (event: KeyboardEvent) => {
    const [right = 0, down = 0] = ARROWS[event.key] ?? []
    if (right === 0 && down === 0) return
    event.preventDefault()
    move(right * STEP, down * STEP)
  }
  const percent = (share: number) => Math.round(share * 100)
  return (
    <section className="stack" aria-label={t('images.focus')}>
      <h3>{t('images.focus')}</h3>
      <button
        type="button"
        className="focus-picture"
        disabled={isLocked}
        aria-label={
          focus === null ? t('images.setFocus') : t('images.focusAt', { x: percent(x), y: percent(y) })
        }
        onKeyDown={press}
        onClick={({ clientX, clientY, currentTarget, detail }) => {
          const { left, top, width, height } = currentTarget.getBoundingClientRect()
          // A click by the keyboard has no place.
          if (detail > 0) move((clientX - left) / width - x, (clientY - top) / height - y)
        }}
      >
        <img src={linkOf(hash, 'w_560,h_560,f_webp')} alt="" />
        {focus !== null && (
          <span className="focus-mark" style={{ left: `${percent(x)}%`, top: `${percent(y)}%` }} />
        )}
      </button>
      <small className="muted">{t('images.focusHint')}</small>
      {focus !== null && (
        <Button look="quiet" label={t('images.noFocus')} disabled={isLocked} onClick={() => change(null)} />
      )}
    </section>
  )
}

const ARROWS: Readonly<Record<string, readonly [right: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

const toShare = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * 1_000) / 1_000

export function TagsField({ image, isLocked }: Props) {
  const set = (tags: readonly string[]) => save(image, update(image.hash, { tags: JSON.stringify(tags) }))
  return (
    <NamesField
      title={t('images.tags')}
      add={t('images.addTag')}
      isLocked={isLocked}
      names={image.tags}
      show={(tag) => (
        <Link to="imagenes" query={new URLSearchParams({ etiqueta: tag })} className="chip">
          {tag}
        </Link>
      )}
      onAdd={(tag) => set([...image.tags, tag])}
      onRemove={(tag) => set(image.tags.filter((one) => one !== tag))}
    />
  )
}

/** Names that links can use in place of the hash. */
export function AliasesField({ image, isLocked }: Props) {
  const { hash } = image
  const { data = [] } = useQuery({
    queryKey: ['images', 'aliases'],
    // A key that may not change them may not list them either.
    enabled: !isLocked,
    queryFn: async ({ signal }) => {
      const found: { name: string; hash: string; link: string }[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const { data, next }: ApiResult<typeof ALIASES> = await callApi(ALIASES, {
          query: { limit: PAGE_ALIASES, ...(cursor === '' ? {} : { cursor }) },
          signal,
        })
        found.push(...data.data)
        cursor = next
      }
      return found
    },
  })
  const links = new Map(data.filter((alias) => alias.hash === hash).map(({ name, link }) => [name, link]))
  return (
    <NamesField
      title={t('images.aliases')}
      add={t('images.addAlias')}
      isLocked={isLocked}
      names={[...links.keys()]}
      show={(name) => <CopyButton text={links.get(name) ?? ''} label={name} />}
      onAdd={(name) => save(image, setAlias(name, hash))}
      onRemove={(name) => save(image, setAlias(name, ''))}
    />
  )
}

interface NamesProps {
  readonly title: string
  /** The label of the field that adds one. */
  readonly add: string
  readonly isLocked: boolean
  readonly names: readonly string[]
  readonly show: (name: string) => ReactNode
  readonly onAdd: (name: string) => void
  readonly onRemove: (name: string) => void
}

/** Names of an image, each with a remove button, and a field to add one. */
function NamesField({ title, add, isLocked, names, show, onAdd, onRemove }: NamesProps) {
  const [text, setText] = useState('')
  return (
    <section className="stack" aria-label={title}>
      <h3>{title}</h3>
      {names.length > 0 && (
        <ul className="image-names">
          {names.map((name) => (
            <li key={name} className="row">
              {show(name)}
              <IconButton
                icon="close"
                label={t('images.remove', { name })}
                disabled={isLocked}
                onClick={() => onRemove(name)}
              />
            </li>
          ))}
        </ul>
      )}
      <TextField
        label={add}
        maxLength={60}
        disabled={isLocked}
        value={text}
        onChange={setText}
        onKeyDown={({ key, nativeEvent }) => {
          if (key !== 'Enter' || nativeEvent.isComposing) return
          const name = text.trim()
          if (name !== '' && !names.includes(name)) onAdd(name)
          setText('')
        }}
      />
    </section>
  )
}
