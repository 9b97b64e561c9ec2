import { type ReactNode, useEffect, useRef, useState } from 'react'
import { count, t, type TextKey } from '../../i18n/index.ts'
import uPlot from 'uplot'
import { Heads } from '../../design/page.tsx'
import { useStore } from '../../base/store.ts'
import { theme } from '../../base/theme.ts'
import '../../i18n/texts/stats.ts'
import './stats.css'
import 'uplot/dist/uPlot.min.css'

/** A chart with its title and an equivalent table. */
export function Chart(props: {
  title: TextKey
  isWide?: boolean
  table?: ReactNode
  tools?: ReactNode
  children: ReactNode
}) {
  return (
    <section
      className={props.isWide === true ? 'chart stack wide' : 'chart stack'}
      aria-label={t(props.title)}
    >
      <div className="row">
        <h2>{t(props.title)}</h2>
        {props.tools}
      </div>
      {props.children}
      {props.table !== undefined && (
        <details>
          <summary>{t('stats.asTable')}</summary>
          {props.table}
        </details>
      )}
    </section>
  )
}

interface ChartTableProps {
  readonly heads: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
}

/** The table next to a plot. */
export function ChartTable({ heads, rows }: ChartTableProps) {
  return (
    <div className="twin" tabIndex={0} role="region" aria-label={heads.join(', ')}>
      <table className="plain">
        <Heads heads={heads} />
        <tbody>
          {rows.map(([first = '', ...values]) => (
            <tr key={first}>
              <th scope="row">{first}</th>
              {values.map((value, i) => (
                <td key={heads[i + 1]} className="figures">
                  {typeof value === 'number' ? count(value) : value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export interface Line {
  readonly label: string
  readonly values: readonly number[]
  /** A token of the design: `accent`, `free`, … */
  readonly colour: 'accent' | 'free'
  /** Distinguished from the others by more than its colour. */
  readonly isDashed?: boolean
}

interface Props {
  readonly label: string
  /** The full label of each value. */
  readonly places: readonly string[]
  /** The short labels of the axis. */
  readonly ticks: readonly string[]
  readonly lines: readonly Line[]
  readonly kind: 'line' | 'bars'
  readonly height?: number
}

const dark = matchMedia('(prefers-color-scheme: dark)')

/** A plot whose values can be read with the pointer or arrow keys. Each plot has an equivalent table next to it. */
export function Plot({ label, places, ticks, lines, kind, height = 220 }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<number>()
  const chosen = useStore(theme)
  const [isDark, setDark] = useState(dark.matches)
  useEffect(() => {
    const listen = () => setDark(dark.matches)
    dark.addEventListener('change', listen)
    return () => dark.removeEventListener('change', listen)
  }, [])
  const plot = useRef<uPlot>(undefined)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const made = new uPlot(
      optionsFor(element, { ticks, lines, kind, height }, setAt),
      toData(places, lines),
      element,
    )
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
    }
    // The colours are the theme's.
  }, [places, ticks, lines, kind, height, chosen, isDark])

  function move(to: number) {
    const index = Math.max(0, Math.min(places.length - 1, to))
    setAt(index)
    plot.current?.setCursor({ left: plot.current.valToPos(index, 'x'), top: 0 })
  }
  const shown = at ?? (kind === 'bars' ? highest(lines) : places.length - 1)
  return (
    <figure className="plot">
      <p className="plot-values figures" aria-live="polite">
        <span className="muted">{places[shown]}</span>
        {lines.map((line) => (
          <span key={line.label}>
            <span className={`swatch ${line.colour}`} aria-hidden="true" />
            {line.label}: <strong>{count(line.values[shown] ?? 0)}</strong>
          </span>
        ))}
      </p>
      <div
        ref={box}
        className="plot-box"
        role="img"
        aria-label={label}
        tabIndex={0}
        onKeyDown={(event) => {
          const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
          if (by === undefined) return
          event.preventDefault()
          move(shown + by)
        }}
      />
    </figure>
  )
}

/** Returns the index of the maximum of the first line. */
function highest([first]: readonly Line[]): number {
  return first === undefined ? 0 : Math.max(0, first.values.indexOf(Math.max(...first.values)))
}

function toData(places: readonly string[], lines: readonly Line[]): uPlot.AlignedData {
  return [places.map((_, i) => i), ...lines.map(({ values }) => [...values])]
}

type Drawn = Pick<Props, 'ticks' | 'lines' | 'kind'> & { readonly height: number }

function optionsFor(
  element: HTMLElement,
  drawn: Drawn,
  onMove: (index: number | undefined) => void,
): uPlot.Options {
  const { ticks, lines, kind, height } = drawn
  const colour = (name: string) => toColour(element, name)
  const axis = { stroke: colour('muted'), font: '11px Inter', ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 })
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      x: { time: false, ...(kind === 'bars' ? { range: (_plot, min, max) => [min - 0.6, max + 0.6] } : {}) },
      y: { range: (_plot, _min, max) => [0, max === 0 ? 1 : max * 1.08] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        space: 64,
        incrs: [1, 2, 5, 7, 10, 14, 30, 60, 90, 180, 365],
        values: (_plot, splits) => splits.map((i) => (Number.isInteger(i) ? (ticks[i] ?? '') : '')),
      },
      {
        ...axis,
        size: 52,
        grid: { stroke: colour('hairline'), width: 1 },
        values: (_plot, splits) => splits.map((value) => (Number.isInteger(value) ? count(value) : '')),
      },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        stroke: colour(line.colour),
        width: kind === 'bars' ? 0 : 1.6,
        ...(line.isDashed === true ? { dash: [6, 4] } : {}),
        fill:
          kind === 'bars'
            ? colour(line.colour)
            : colour(line.colour).replace(/^rgb\((.*)\)$/, 'rgba($1, 0.12)'),
        points: { show: false },
        ...(kind === 'bars' && bars !== undefined ? { paths: bars } : {}),
      })),
    ],
    hooks: { setCursor: [(plot) => onMove(plot.cursor.idx ?? undefined)] },
  }
}

/** A canvas does not support custom properties, so the browser resolves them. */
function toColour(element: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(--${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
