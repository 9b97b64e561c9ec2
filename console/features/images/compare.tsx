import { type PointerEvent, type ReactNode, useRef, useState } from 'react'
import { usePermissions } from '../../api/scope.ts'
import { useRoute, withParameters } from '../../base/router.ts'
import { useShortcuts } from '../../base/shortcuts.ts'
import { Button, Icon, IconButton, Link } from '../../design/elements.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { ErrorNotice } from '../../design/notice.tsx'
import { t, tn } from '../../i18n/index.ts'
import { ImageFacts } from './detail.tsx'
import { type ImageRecord, linkOf } from './gallery.tsx'
import { useImage, useNearDuplicates } from './near-duplicates.tsx'

interface Props {
  readonly hashes: readonly [string, string]
  readonly onClose: () => void
  readonly onDelete: (image: ImageRecord) => void
}

/** Two similar images with their differences, to choose which one to delete. */
export function Compare({ hashes: [first, second], onClose, onDelete }: Props) {
  const { query } = useRoute()
  const [one, other] = [useImage(first), useImage(second)]
  const near = useNearDuplicates(first)
  const distance = near.data?.find(({ hash }) => hash === second)?.distance
  const error = one.error ?? other.error
  const [isDifference, setDifference] = useState(false)
  const zoom = useZoom()
  return (
    <Dialog title={t('images.compare')} isWide onClose={onClose}>
      {error !== null && (
        <ErrorNotice error={error} onRetry={() => void Promise.all([one.refetch(), other.refetch()])} />
      )}
      {one.data !== undefined && other.data !== undefined && (
        <>
          <p className="muted figures" role="status">
            {distance === undefined
              ? ''
              : distance === 0
                ? t('images.samePicture')
                : tn('images.bits', distance)}
          </p>
          <div className="row">
            <IconButton
              icon="minus"
              label={t('images.zoomOut')}
              disabled={zoom.scale === 1}
              onClick={() => zoom.change(1 / STEP)}
            />
            <output className="figures">{t('app.percent', { n: Math.round(zoom.scale * 100) })}</output>
            <IconButton
              icon="plus"
              label={t('images.zoomIn')}
              disabled={zoom.scale === MAX_SCALE}
              onClick={() => zoom.change(STEP)}
            />
            <Button label={t('images.zoomFit')} disabled={zoom.scale === 1} onClick={zoom.fit} />
            <button
              type="button"
              className="chip"
              aria-pressed={isDifference}
              onClick={() => setDifference(!isDifference)}
            >
              {t('images.difference')}
            </button>
          </div>
          {isDifference && (
            <div>
              <Pictures images={[one.data, other.data]} zoom={zoom} />
              <p className="muted">{t('images.differenceText')}</p>
            </div>
          )}
          <div className="compare">
            <Side image={one.data} other={other.data} onDelete={onDelete}>
              {!isDifference && <Pictures images={[one.data]} zoom={zoom} />}
            </Side>
            <Side image={other.data} other={one.data} onDelete={onDelete}>
              {!isDifference && <Pictures images={[other.data]} zoom={zoom} />}
            </Side>
          </div>
        </>
      )}
      <div className="row">
        <Link to="imagenes" query={withParameters(query, { con: undefined })} className="button">
          <Icon name="left" />
          {t('images.backToDetails')}
        </Link>
      </div>
    </Dialog>
  )
}

interface SideProps {
  readonly image: ImageRecord
  readonly other: ImageRecord
  readonly onDelete: (image: ImageRecord) => void
  readonly children: ReactNode
}

function Side({ image, other, onDelete, children }: SideProps) {
  const isLocked = !usePermissions()('changeImages')
  return (
    <figure>
      {children}
      <figcaption>{image.name}</figcaption>
      <ImageFacts image={image} other={other} />
      <Button
        look="danger"
        icon="trash"
        label={t('images.deleteThis')}
        about={image.name}
        disabled={isLocked}
        onClick={() => onDelete(image)}
      />
    </figure>
  )
}

const MAX_SCALE = 8
const STEP = 1.5
/** How far an arrow key moves, in percent of the shown part. */
const KEY_STEP = 10

/** How the compared images are enlarged and moved, all by the same share of their size. */
function useZoom() {
  const [{ scale, x, y }, setPlace] = useState({ scale: 1, x: 0, y: 0 })
  const change = (factor: number, dx = 0, dy = 0) =>
    setPlace((old) => {
      const next = Math.min(MAX_SCALE, Math.max(1, old.scale * factor))
      // Percent of the image that are out of sight on each side.
      const edge = 50 - 50 / next
      const within = (place: number) => Math.min(edge, Math.max(-edge, place))
      return { scale: next, x: within(old.x + dx / next), y: within(old.y + dy / next) }
    })
  const pan = (dx: number, dy: number) => (event: KeyboardEvent) => {
    if (scale === 1) return
    event.preventDefault()
    change(1, dx, dy)
  }
  const fit = () => setPlace({ scale: 1, x: 0, y: 0 })
  useShortcuts(
    'compare',
    {
      '+': () => change(STEP),
      '-': () => change(1 / STEP),
      '0': fit,
      ArrowLeft: pan(KEY_STEP, 0),
      ArrowRight: pan(-KEY_STEP, 0),
      ArrowUp: pan(0, KEY_STEP),
      ArrowDown: pan(0, -KEY_STEP),
    },
    1,
  )
  return {
    scale,
    transform: `scale(${scale}) translate(${x}%, ${y}%)`,
    /** Enlarges, and moves by percent of the image as it was shown without that. */
    change,
    fit,
  }
}

interface PicturesProps {
  readonly images: readonly ImageRecord[]
  readonly zoom: ReturnType<typeof useZoom>
}

/** An image, or how two differ: one finger or the mouse moves it, two fingers, the wheel with Ctrl or a double click enlarge it. */
function Pictures({ images, zoom }: PicturesProps) {
  const { scale, transform, change, fit } = zoom
  const frame = useRef<HTMLDivElement>(null)
  const fingers = useRef(new Map<number, PointerEvent>())
  const [first] = images
  if (first === undefined) return null
  const ratio = first.width / first.height
  const drag = (event: PointerEvent<HTMLElement>) => {
    const before = fingers.current.get(event.pointerId)
    if (before === undefined) return
    const other = [...fingers.current.values()].find(({ pointerId }) => pointerId !== event.pointerId)
    fingers.current.set(event.pointerId, event)
    if (other === undefined) {
      const { offsetWidth, offsetHeight } = frame.current ?? event.currentTarget
      const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY]
      change(1, (dx / offsetWidth) * 100, (dy / offsetHeight) * 100)
    } else {
      const distance = ({ clientX, clientY }: PointerEvent) =>
        Math.hypot(clientX - other.clientX, clientY - other.clientY)
      change(distance(event) / Math.max(1, distance(before)))
    }
  }
  // React's own listener cannot keep the browser from enlarging the whole page.
  const listenToWheel = (element: HTMLElement | null) => {
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey) return
      event.preventDefault()
      change(Math.exp(-event.deltaY / 100))
    }
    element?.addEventListener('wheel', turn, { passive: false })
    return () => element?.removeEventListener('wheel', turn)
  }
  const lift = ({ pointerId }: PointerEvent) => void fingers.current.delete(pointerId)
  return (
    <div
      ref={listenToWheel}
      className="compare-picture"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        fingers.current.set(event.pointerId, event)
      }}
      onPointerMove={drag}
      onPointerUp={lift}
      onPointerCancel={lift}
      onDoubleClick={() => (scale === 1 ? change(STEP ** 2) : fit())}
    >
      <div
        ref={frame}
        className={images.length > 1 ? 'compare-frame difference' : 'compare-frame'}
        style={{ transform, aspectRatio: ratio, width: `min(100%, calc(var(--height) * ${ratio}))` }}
      >
        {images.map(({ hash, name }) => (
          <img key={hash} src={linkOf(hash, scale === 1 ? FITTED : ENLARGED)} alt={name} draggable={false} />
        ))}
      </div>
    </div>
  )
}

/** How large the images are requested, for one that fits the screen and one that is enlarged. */
const FITTED = 'w_1200,h_900,f_webp'
const ENLARGED = 'w_4000,h_3000,f_webp'
