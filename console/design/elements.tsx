import {
  type ComponentProps,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { dateTime } from '../i18n/index.ts'
import { toHref, navigate } from '../base/router.ts'

const PATHS = {
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14',
  globe:
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2 2 2.6 4 2.6 6S10 12 8 14C6 12 5.400 10 5.400 8S6 4 8 2Z',
  images: 'M2.500 3.500h11v9h-11zM2.500 10.500l3-3 2.500 2.500 2-2 3.500 3M10.500 6.200v.1',
  triage: 'M2.500 4h7M2.500 8h5M2.500 12h3M10 10.500l1.800 1.800L15 8.500',
  chart: 'M2.500 13.500v-11M2.500 13.500h11M5 10.500l2.500-3 2.500 1.500 3-4.500',
  key: 'M5.500 10.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM8 8h6M12 8v2.500',
  gauge: 'M2.500 11.500a6 6 0 1 1 11 0M8 9.500l2.500-3',
  home: 'M2.500 7.500 8 3l5.500 4.500M4 6.500v6.500h8V6.500',
  flag: 'M4 14V2.500M4 3h7.500l-1.500 2.500L11.500 8H4',
  unflag: 'M4 14V2.500M4 3h7.500l-1.500 2.500L11.500 8H4M2 1.500l12 12',
  filter: 'M2.500 4h11M4.500 8h7M6.500 12h3',
  trash: 'M3 4.500h10M6.500 4V2.500h3V4M4.500 4.500l.5 9h6l.5-9',
  undo: 'M6 3 3 6l3 3M3 6h6.500a3.500 3.500 0 0 1 0 7H7',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  check: 'M3 8.500l3.500 3.500L13 4.500',
  close: 'M4 4l8 8M12 4l-8 8',
  down: 'M8 3v9M4.500 8.500 8 12l3.500-3.500',
  up: 'M8 13V4M4.500 7.500 8 4l3.500 3.500',
  fold: 'M4 6l4 4 4-4',
  right: 'M6 3.500 10.500 8 6 12.500',
  left: 'M10 3.500 5.500 8l4.500 4.500',
  upload: 'M8 10.500v-8M4.800 5.500 8 2.500l3.200 3M2.500 11v2.500h11V11',
  download: 'M8 2.500v8M4.800 7.500 8 10.500l3.200-3M2.500 11.500v2h11v-2',
  sun: 'M8 10.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM8 1.500v1M8 13.500v1M1.500 8h1M13.500 8h1M3.400 3.400l.7.7M11.900 11.900l.7.7M3.400 12.600l.7-.7M11.900 4.100l.7-.7',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500Z',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.500V8l2.300 1.500',
  alert: 'M8 2.500 14 13H2zM8 6.500v3M8 11.200v.1',
  link: 'M6.500 9.500l3-3M7.500 4.500l1.300-1.300a2.700 2.700 0 0 1 4 4L11.500 8.500M8.500 11.500l-1.300 1.300a2.700 2.700 0 0 1-4-4L4.500 7.500',
  out: 'M9.500 3h-6v10h6M7 8h7M11.500 5.500 14 8l-2.500 2.500',
  more: 'M2.800 8h1.400M7.300 8h1.400M11.800 8h1.400',
  menu: 'M2.500 4.500h11M2.500 8h11M2.500 11.500h11',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  lock: 'M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500',
  bell: 'M4 11.500V7a4 4 0 0 1 8 0v4.500zM2.500 11.500h11M7 13.500h2',
  columns: 'M2.500 3h11v10h-11zM6.200 3v10M9.800 3v10',
  tag: 'M2.500 2.500h5l6 6-5 5-6-6zM5.200 5.200v.1',
  note: 'M3.500 2.500h9v8l-3 3h-6zM6 5.500h4M6 8h3',
  person:
    'M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8ZM2.800 13.700c.5-2.600 2.600-4 5.200-4s4.700 1.400 5.200 4',
  layers: 'M8 2.500 14 6 8 9.500 2 6zM2.500 9.500 8 12.800l5.500-3.300',
} as const

export type IconName = keyof typeof PATHS

/** Decorative: always next to a label, or in an element with an accessible name. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon-mark" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

interface TagProps {
  readonly icon?: IconName
  readonly look?: 'review' | 'free' | 'danger' | 'shortens' | 'own shortens'
  readonly title?: string
  readonly label: ReactNode
}

/** A short remark about something, such as its state. */
export const Tag = ({ icon, look, title, label }: TagProps) => (
  <span className={look === undefined ? 'tag' : `tag ${look}`} title={title}>
    {icon !== undefined && <Icon name={icon} />}
    {label}
  </span>
)

interface FactProps {
  readonly label: string
  readonly title?: string | undefined
  readonly className?: string
  readonly children: ReactNode
}

/** An entry of a list of facts; nothing if there is nothing to say. */
export function Fact({ label, title, className, children }: FactProps) {
  if (children === undefined || children === null || children === false) return null
  return (
    <>
      <dt title={title}>{label}</dt>
      <dd className={className}>{children}</dd>
    </>
  )
}

/** A local time of the service in the style of all dates, with its second on hover; a dash for none. */
export function Time({ at }: { at: string | null | undefined }) {
  if (typeof at !== 'string') return '–'
  return (
    <time dateTime={at} title={at}>
      {dateTime(at)}
    </time>
  )
}

interface ButtonProps extends ComponentProps<'button'> {
  readonly label?: string
  readonly look?: 'primary' | 'quiet' | 'danger' | undefined
  readonly icon?: IconName | undefined
  /** What it acts on, for screen readers: one of several buttons with the same text. */
  readonly about?: string
  /** Shows that it is at work, in place of its icon. */
  readonly isBusy?: boolean
}

export function Button({ label, look, icon, about, isBusy, className, children, ...rest }: ButtonProps) {
  const classes = ['button', look, className].filter((name) => name !== undefined)
  return (
    <button type="button" {...rest} className={classes.join(' ')}>
      {isBusy === true ? <span className="spinner" /> : icon !== undefined && <Icon name={icon} />}
      {label}
      {children}
      {about !== undefined && <span className="visually-hidden"> {about}</span>}
    </button>
  )
}

interface IconButtonProps extends ComponentProps<'button'> {
  readonly icon: IconName
  readonly label: string
}

/** A button that shows only its icon. */
export function IconButton({ icon, label, className, ...rest }: IconButtonProps) {
  const classes = ['button quiet icon', className].filter((name) => name !== undefined)
  return (
    <button type="button" {...rest} className={classes.join(' ')} aria-label={label}>
      <Icon name={icon} />
    </button>
  )
}

/** An entry of a menu, which closes with it. */
export function MenuEntry({ icon, label, ...rest }: IconButtonProps) {
  return (
    <button type="button" data-closes {...rest}>
      <Icon name={icon} />
      {label}
    </button>
  )
}

/**
 * Returns a click handler that ignores further clicks of a double click: they would revert the first one, or hit what
 * took the place of its target.
 */
export const onFirstClick =
  (act: () => void) =>
  ({ detail }: MouseEvent): void => {
    if (detail < 2) act()
  }

/** A link within the console. */
export function Link(props: {
  to: string
  query?: URLSearchParams
  className?: string
  current?: boolean
  children: ReactNode
}) {
  const { to, query, className, current, children } = props
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    navigate(to, query)
  }
  return (
    <a
      href={toHref(to, query)}
      className={className}
      aria-current={current === true ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  )
}

/** Margin between the button of a menu and its panel, and to the edges of the screen. */
const GAP_PX = 6

interface MenuProps {
  readonly label: string
  readonly icon: IconName
  /** Whether the label is shown next to the icon. */
  readonly isNamed?: boolean
  /** The accessible name, if the label is not enough. It contains the label. */
  readonly fullName?: string
  readonly className?: string
  readonly panelClassName?: string
  readonly isDisabled?: boolean
  readonly children: ReactNode
}

/**
 * A button with a menu, which the browser closes on Escape and on a click elsewhere. Its panel is in the top layer, so no
 * scroll container clips it.
 */
export function Menu(props: MenuProps) {
  const { label, icon, isNamed = false, fullName, panelClassName = '', isDisabled = false, children } = props
  const { className = isNamed ? 'button' : 'button quiet icon' } = props
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!isOpen) return
    place()
    // The chosen one of several choices, or the first.
    const choices = [...(panel.current?.querySelectorAll<HTMLElement>('[aria-pressed]') ?? [])]
    const chosen = choices.find(({ ariaPressed }) => ariaPressed === 'true') ?? choices[0]
    chosen?.focus()
    addEventListener('resize', place)
    return () => removeEventListener('resize', place)
  }, [isOpen])

  function place() {
    const [at, box] = [button.current?.getBoundingClientRect(), panel.current]
    if (at === undefined || box === null) return
    const left = Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - GAP_PX)
    box.style.left = `${Math.max(GAP_PX, left)}px`
    box.style.top = `${at.bottom + GAP_PX}px`
    box.style.maxHeight = `${Math.max(160, innerHeight - at.bottom - 3 * GAP_PX)}px`
  }

  function press(event: KeyboardEvent) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by === undefined || !isOpen) return
    // Choices of a form have arrow keys of their own.
    if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement) return
    event.preventDefault()
    const entries = [...(panel.current?.querySelectorAll('button') ?? [])]
    entries[entries.findIndex((one) => one === document.activeElement) + by]?.focus()
  }

  return (
    <div
      className="menu"
      onKeyDown={press}
      onBlur={({ relatedTarget, currentTarget }) => {
        if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) panel.current?.hidePopover()
      }}
    >
      <button
        ref={button}
        type="button"
        className={className}
        popoverTarget={id}
        disabled={isDisabled}
        aria-label={fullName ?? (isNamed ? undefined : label)}
      >
        <Icon name={icon} />
        {isNamed && <span className="menu-label ellipsis">{label}</span>}
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        className={`menu-panel floating ${panelClassName}`}
        role="group"
        aria-label={label}
        onToggle={({ newState }) => setOpen(newState === 'open')}
        onClick={({ target, currentTarget }) => {
          if (target instanceof Element && target.closest('[data-closes]') !== null)
            currentTarget.hidePopover()
        }}
      >
        {isOpen && children}
      </div>
    </div>
  )
}
