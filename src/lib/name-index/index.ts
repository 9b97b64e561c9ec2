export { columnsOf, UnsupportedValueError, type IndexedRecord } from './column-builder.ts'
export { KEYS } from './block-index.ts'
export {
  CHARACTER_MARKS,
  ORDERS,
  Plane,
  shared,
  sizeOf,
  type CharacterMark,
  type Columns,
  type Order,
} from './columns.ts'
export { compareNames, firstMatches } from './first-matches.ts'
export { PLANES } from './planes.ts'
export { compileQuery, type DateColumn, type IndexQuery, type IndexTerm } from './query.ts'
export { Scan } from './scan.ts'
export { Segment, type EntryKey, type Hit } from './segment.ts'
export { mergeParts, partOf, SegmentSet, type EntryKeys, type SegmentPart } from './segment-set.ts'
export { compareBytes } from './segment.ts'
export { namePrefix, SORTED_ORDERS, sortedMatches } from './sorted-matches.ts'
export { scanInSlices, TimeSlice } from './slices.ts'
export { wordsOf } from './name-test.ts'
export { formatTimestamp, parseTimestamp, TIMESTAMP_LENGTH, writeTimestamp } from './timestamp.ts'
