import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** A button with a menu that closes on Escape, on a choice and on a click elsewhere. */
export function Menu(props: {
  label: string
  icon: IconName
  /** Whether the label is shown next to the icon. */
  isNamed?: boolean
  /** The accessible name, if the label is not enough. It contains the label. */
  fullName?: string
  className?: string
  children: ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const leave = (event: Event) => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) setOpen(false)
    }
    // Not on the menu itself: a click on a text in it leaves the focus to the page.
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      setOpen(false)
      button.current?.focus()
    }
    addEventListener('pointerdown', leave)
    addEventListener('focusin', leave)
    addEventListener('keydown', press)
    return () => {
      removeEventListener('keydown', press)
      removeEventListener('pointerdown', leave)
      removeEventListener('focusin', leave)
    }
  }, [isOpen])
  return (
    <div ref={root} className="menu">
      <button
        ref={button}
        type="button"
        className={props.className ?? (props.isNamed === true ? 'button' : 'button quiet icon')}
        aria-label={props.fullName ?? (props.isNamed === true ? undefined : props.label)}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={props.icon} />
        {props.isNamed === true && <span className="menu-label ellipsis">{props.label}</span>}
      </button>
      {isOpen && (
        <div
          className="menu-panel floating"
          onClick={(event) => {
            if (event.target instanceof Element && event.target.closest('[data-closes]') !== null)
              setOpen(false)
          }}
        >
          {props.children}
        </div>
      )}
    </div>
  )
}
