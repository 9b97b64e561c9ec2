import { usePermissions } from '../../api/scope.ts'
import { useShortcuts, takesLetters } from '../../base/shortcuts.ts'
import { Button, IconButton, Fact, Link } from '../../design/elements.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { ErrorNotice } from '../../design/notice.tsx'
import { type ImageRecord, linkOf } from './gallery.tsx'
import { NearDuplicates, useImage } from './near-duplicates.tsx'
import { TransformPlayground, CopyLinks } from './transform-playground.tsx'
import { bytes, count, moment, t } from '../../i18n/index.ts'
import { useQuery } from '@tanstack/react-query'
import { useState, type KeyboardEvent as ReactKeyboardEvent, type ReactNode } from 'react'
import { callApi, listPages } from '../../api/client.ts'
import type { Alias } from '../../../clients/js/schema.ts'
import { CopyButton } from '../../design/buttons.tsx'
import { TextField } from '../../design/field.tsx'
import { runOperation, toOperation } from '../work/operations.ts'

interface Props {
  readonly hash: string
  /** Its record, if the gallery has it already. */
  readonly known: ImageRecord | undefined
  /** Shows its neighbours in the gallery; undefined at an end. */
  readonly onPrevious: (() => void) | undefined
  readonly onNext: (() => void) | undefined
  readonly onClose: () => void
  readonly onDelete: (image: ImageRecord) => void
}

export function Detail({ hash, known, onPrevious, onNext, onClose, onDelete }: Props) {
  const isLocked = !usePermissions()('changeImages')
  const { data, error, refetch } = useImage(hash)
  const image = known ?? data
  const unlessTyping = (step: (() => void) | undefined) => (event: KeyboardEvent) => {
    if (!takesLetters(event.target)) step?.()
  }
  useShortcuts('image', { ArrowLeft: unlessTyping(onPrevious), ArrowRight: unlessTyping(onNext) }, 1)
  return (
    <Dialog
      title={image === undefined ? hash : image.name}
      isWide
      actions={
        <>
          <IconButton
            icon="left"
            label={t('images.previous')}
            disabled={onPrevious === undefined}
            onClick={onPrevious}
          />
          <IconButton
            icon="right"
            label={t('images.next')}
            disabled={onNext === undefined}
            onClick={onNext}
          />
        </>
      }
      onClose={onClose}
    >
      {image === undefined && error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {image !== undefined && (
        <div className="detail">
          <TransformPlayground image={image} />
          <div className="detail-side stack">
            <ImageFacts image={image} />
            <CopyLinks image={image} />
            <TagsField key={`tags ${hash}`} image={image} isLocked={isLocked} />
            <AliasesField key={`aliases ${hash}`} image={image} isLocked={isLocked} />
            <FocusField key={`focus ${hash}`} image={image} isLocked={isLocked} />
            <NearDuplicates hash={image.hash} />
            <Button
              look="danger"
              icon="trash"
              label={t('images.delete')}
              disabled={isLocked}
              onClick={() => onDelete(image)}
            />
          </div>
        </div>
      )}
    </Dialog>
  )
}

/** The facts of an image. Those that another one has less of are marked, if it is compared with one. */
export function ImageFacts({ image, other = image }: { image: ImageRecord; other?: ImageRecord }) {
  return (
    <dl className="facts">
      <Fact label={t('images.pixels')} className="figures">
        {count(image.width)} × {count(image.height)}
        <More isMore={image.width * image.height > other.width * other.height} />
      </Fact>
      <Fact label={t('images.size')} className="figures">
        {bytes(image.size)}
        <More isMore={image.size > other.size} />
      </Fact>
      <Fact label={t('images.kind')}>{image.mime}</Fact>
      <Fact label={t('images.date')}>{moment(image.date)}</Fact>
      <Fact label={t('images.hash')} className="mono">
        {image.hash}
      </Fact>
      {image.dhash !== '' && (
        <Fact label={t('images.dhash')} className="mono">
          {image.dhash}
        </Fact>
      )}
    </dl>
  )
}

function More({ isMore }: { isMore: boolean }) {
  return isMore ? <strong className="good-text"> {t('images.more')}</strong> : null
}

const PAGE_ALIASES = 1_000
/** How far an arrow key moves the focus, as a share of a side. */
const STEP = 0.05

interface FieldProps {
  readonly image: ImageRecord
  readonly isLocked: boolean
}

function save({ hash, name }: ImageRecord, send: () => Promise<unknown>, onFailed = () => {}) {
  runOperation(
    toOperation({
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

const update = (hash: string, changes: { tags?: string; focus?: string }) => () =>
  callApi('POST /api/v1/imagestore/update', { query: { hash, ...changes } })

const setAlias = (name: string, hash: string) => () =>
  callApi('POST /api/v1/imagestore/alias', { query: { name, hash } })

/** The point that crops keep, set by a click or moved by arrow keys. */
function FocusField({ image, isLocked }: FieldProps) {
  const { hash } = image
  const [focus, setFocus] = useState(image.focus)
  const [x = 0.5, y = 0.5] = focus?.split(',').map(Number) ?? []
  const change = (next: string | null) => {
    setFocus(next)
    save(image, update(hash, { focus: next ?? '' }), () => setFocus(image.focus))
  }
  const move = (right: number, down: number) => change(`${toShare(x + right)},${toShare(y + down)}`)
  const press = (event: ReactKeyboardEvent) => {
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

function TagsField({ image, isLocked }: FieldProps) {
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
function AliasesField({ image, isLocked }: FieldProps) {
  const { hash } = image
  const { data = [] } = useQuery({
    queryKey: ['images', 'aliases'],
    // A key that may not change them may not list them either.
    enabled: !isLocked,
    queryFn: async ({ signal }) => {
      const found: Alias[] = []
      const fetchPage = (cursor: string | undefined) =>
        callApi('GET /api/v1/imagestore/aliases', { query: { limit: PAGE_ALIASES, cursor }, signal })
      for await (const { data } of listPages(fetchPage)) found.push(...data.data)
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
