import {
  useLayoutEffect,
  useRef,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
} from 'react'
import { t } from '../i18n/index.ts'
import { IconButton } from './button.tsx'

interface DialogProps {
  readonly title: string
  readonly isWide?: boolean
  /** Only its buttons close it, because its content is shown only once. */
  readonly isFirm?: boolean
  /** A click outside does not close it, because that would lose what was typed. */
  readonly hasInput?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Modal: the browser traps the focus, closes on Escape and restores the focus. */
export function Dialog(props: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  const { onClose } = props
  const outside = useOutsideClick(box, () => {
    if (props.isFirm !== true && props.hasInput !== true) onClose()
  })
  // Before anything else is typed.
  useLayoutEffect(() => {
    const dialog = box.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={box}
      className={props.isWide === true ? 'box wide' : 'box'}
      aria-label={props.title}
      onClose={onClose}
      {...outside}
      onKeyDown={(event) => {
        // Not `cancel`: browsers close on a second Escape even if that event is prevented.
        if (props.isFirm === true && event.key === 'Escape') event.preventDefault()
      }}
    >
      <div className="stack">
        <div className="row">
          <h2 className="grow">{props.title}</h2>
          <IconButton icon="close" label={t('app.close')} onClick={onClose} />
        </div>
        {props.children}
      </div>
    </dialog>
  )
}

/**
 * Handlers of a modal dialog for a click on the page behind it. Not for one on the padding of the dialog, nor for a drag
 * that ends outside, such as the selection of text in a field.
 */
export function useOutsideClick(box: RefObject<HTMLDialogElement | null>, onClick: () => void) {
  const isPressed = useRef(false)
  const isOutside = ({ target, clientX: x, clientY: y }: MouseEvent) => {
    if (target !== box.current || box.current === null) return false
    const { left, right, top, bottom } = box.current.getBoundingClientRect()
    return x < left || x > right || y < top || y > bottom
  }
  return {
    onPointerDown: (event: PointerEvent) => {
      isPressed.current = isOutside(event)
    },
    onClick: (event: MouseEvent) => {
      if (isPressed.current && isOutside(event)) onClick()
    },
  }
}
