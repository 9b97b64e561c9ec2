import { useId, useRef, type KeyboardEvent } from 'react'
import { Icon } from '../../design/icon.tsx'
import { count } from '../../i18n/index.ts'
import type { ValueCount } from './filter-counts.ts'

/** Margin between the button and its panel, and to the edges of the screen. */
const GAP_PX = 6

interface Props {
  readonly label: string
  readonly choices: readonly ValueCount[]
  /** The active value; undefined for none. */
  readonly chosen: string | undefined
  readonly nameOf: (value: string) => string
  /** Text below the choices. */
  readonly rest?: string | undefined
  readonly onChoose: (value: string | undefined) => void
}

/**
 * A chip whose panel lists values with their counts. The panel is a top-layer popover, so no scroll container clips
 * it.
 */
export function ValueMenu({ label, choices, chosen, nameOf, rest, onChoose }: Props) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const most = Math.max(1, ...choices.map((one) => one.count))

  function place() {
    const [at, box] = [button.current?.getBoundingClientRect(), panel.current]
    if (at === undefined || box === null) return
    const left = Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - GAP_PX)
    box.style.left = `${Math.max(GAP_PX, left)}px`
    box.style.top = `${at.bottom + GAP_PX}px`
    box.style.maxHeight = `${Math.max(160, innerHeight - at.bottom - 3 * GAP_PX)}px`
    const first = box.querySelector<HTMLElement>('[aria-pressed=true]') ?? box.querySelector('button')
    first?.focus()
  }

  function press(event: KeyboardEvent) {
    if (event.key === 'Escape') {
      // For the panel only, not for the details or the selection behind it.
      event.preventDefault()
      panel.current?.hidePopover()
      button.current?.focus()
      return
    }
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const all = [...(panel.current?.querySelectorAll('button') ?? [])]
    all[all.findIndex((one) => one === document.activeElement) + by]?.focus()
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className={chosen === undefined ? 'chip' : 'chip on'}
        popoverTarget={id}
        disabled={choices.length === 0}
      >
        {label}
        <Icon name="fold" />
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        className="facet-panel floating"
        role="group"
        aria-label={label}
        onKeyDown={press}
        onToggle={(event) => {
          if (event.newState === 'open') place()
        }}
      >
        {choices.map(({ value, count: n }) => (
          <button
            key={value}
            type="button"
            aria-pressed={value === chosen}
            onClick={() => {
              panel.current?.hidePopover()
              onChoose(value === chosen ? undefined : value)
            }}
          >
            <span className="facet-bar" style={{ width: `${(n / most) * 100}%` }} />
            <span className="grow">{nameOf(value)}</span>
            <span className="figures muted">{count(n)}</span>
          </button>
        ))}
        {rest !== undefined && <p className="muted figures">{rest}</p>}
      </div>
    </>
  )
}
