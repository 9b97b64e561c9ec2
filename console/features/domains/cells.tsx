import type { ReactNode } from 'react'
import type { ColumnId } from './columns.ts'
import { DecisionTags, MarkTags, ObjectionTag, StatusTag } from './tags.tsx'
import { DomainName } from './domain-name.tsx'
import type { DomainRecord } from './records.ts'
import { SIGNALS, type SignalId } from './signals.ts'
import type { TimeLeft } from './time-left.ts'
import { Time } from '../../design/time.tsx'

export interface CellProps {
  readonly record: DomainRecord
  readonly match: string
  readonly isAscii: boolean
  readonly left: TimeLeft | undefined
}

interface Cell {
  readonly className: string
  readonly content: (props: CellProps) => ReactNode
  readonly title?: (record: DomainRecord) => string
}

const figureCell = (id: SignalId): Cell => ({
  className: 'cell-length right figures',
  content: ({ record }) => SIGNALS[id](record),
})
const textCell = (id: SignalId): Cell => ({
  className: id === 'numbers' ? 'cell-agent figures' : 'cell-agent mono',
  content: ({ record }) => SIGNALS[id](record),
  title: SIGNALS[id],
})

/** The cell of each column. */
export const CELLS: Readonly<Record<ColumnId, Cell>> = {
  name: {
    className: 'cell-name',
    content: ({ record, match, isAscii }) => (
      <DomainName name={record.name} match={match} isAscii={isAscii} words={record.words} />
    ),
  },
  length: { className: 'cell-length right figures', content: ({ record }) => record.length },
  state: { className: 'cell-state', content: ({ record }) => <StatusTag status={record.status} /> },
  marks: {
    className: 'cell-marks',
    content: ({ record, left }) => (
      <>
        <MarkTags record={record} left={left} />
        <ObjectionTag record={record} isRow />
        <DecisionTags record={record} />
      </>
    ),
  },
  agent: {
    className: 'cell-agent',
    content: ({ record }) => record.agent,
    title: ({ agent }) => agent,
  },
  registered: { className: 'cell-date figures', content: ({ record }) => <Time at={record.date_reg} /> },
  deleted: {
    className: 'cell-date second figures',
    content: ({ record }) => record.deleted_at && <Time at={record.deleted_at} />,
  },
  modified: { className: 'cell-date second figures', content: ({ record }) => <Time at={record.date_mod} /> },
  interest: { className: 'cell-length right figures', content: ({ record }) => record.interest },
  shape: textCell('shape'),
  syllables: figureCell('syllables'),
  demand: figureCell('demand'),
  twins: textCell('twins'),
  drops: figureCell('drops'),
  age: figureCell('age'),
  objection: figureCell('objection'),
  numbers: textCell('numbers'),
}
