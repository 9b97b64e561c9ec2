import { useRef, type PointerEvent, type ReactNode } from 'react'
import { Icon } from '../../design/elements.tsx'
import { t } from '../../i18n/index.ts'

/** Minimum distance of a swipe in pixels. */
const DECIDES_PX = 96
/** Distance from which on it is not a tap. */
const BEGINS_PX = 10

interface Props {
  readonly onLeft: () => void
  readonly onRight: () => void
  readonly children: ReactNode
}

interface Touch {
  readonly id: number
  readonly x: number
  readonly y: number
  isSwipe: boolean
}

/** Follows the finger. Released far enough to a side, it decides; otherwise nothing happens. */
export function Swipe({ onLeft, onRight, children }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const touch = useRef<Touch>(undefined)

  const show = (dx: number) => {
    const side = dx >= DECIDES_PX ? 'right' : dx <= -DECIDES_PX ? 'left' : 'none'
    box.current?.style.setProperty('--swipe', `${dx}px`)
    box.current?.setAttribute('data-decides', side)
    box.current?.toggleAttribute('data-swiping', dx !== 0)
  }
  const end = () => {
    touch.current = undefined
    show(0)
  }
  const press = (event: PointerEvent) => {
    if (event.pointerType !== 'touch' || !event.isPrimary || isControl(event.target)) return
    touch.current = { id: event.pointerId, x: event.clientX, y: event.clientY, isSwipe: false }
  }
  const move = (event: PointerEvent) => {
    const now = touch.current
    if (now?.id !== event.pointerId) return
    const dx = event.clientX - now.x
    if (!now.isSwipe) {
      if (Math.abs(event.clientY - now.y) > Math.max(BEGINS_PX, Math.abs(dx))) return end()
      if (Math.abs(dx) < BEGINS_PX) return
      now.isSwipe = true
      box.current?.setPointerCapture(event.pointerId)
    }
    show(dx)
  }
  const letGo = (event: PointerEvent) => {
    const now = touch.current
    if (now?.id !== event.pointerId) return
    const dx = event.clientX - now.x
    const isSwipe = now.isSwipe
    end()
    if (!isSwipe) return
    if (dx >= DECIDES_PX) onRight()
    else if (dx <= -DECIDES_PX) onLeft()
  }
  return (
    <div
      ref={box}
      className="swipe"
      data-decides="none"
      onPointerDown={press}
      onPointerMove={move}
      onPointerUp={letGo}
      onPointerCancel={end}
    >
      {children}
      <p className="swipe-hints" aria-hidden="true">
        <span className="swipe-hint left">
          <Icon name="left" />
          {t('domains.discard')}
        </span>
        <span className="swipe-hint right">
          {t('domains.review')}
          <Icon name="right" />
        </span>
      </p>
    </div>
  )
}

const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('button, a, input, textarea, summary') !== null
