export { columnsOf, isIndexable, type IndexedRecord } from './column-builder.ts'
export { CHARACTER_MARKS, ORDERS, Plane, type CharacterMark, type Columns, type Order } from './columns.ts'
export { compareNames, MergedSearch } from './first-matches.ts'
export { compileQuery, type DateColumn, type IndexQuery, type IndexTerm } from './query.ts'
export { Segment, type EntryKey, type Hit } from './segment.ts'
export { mergeParts, partOf, SegmentSet, type EntryKeys, type SegmentPart } from './segment-set.ts'
export { compareBytes } from './segment.ts'
export {
  allMatches,
  SORTED_ORDERS,
  sortAll,
  sortedMatches,
  type Selected,
  type SortedOrder,
} from './sorted-matches.ts'
export { finish, finishNow, TimeSlice, type SlicedWork } from './slices.ts'
export { wordsOf } from './name-test.ts'
export { formatTimestamp, parseTimestamp, TIMESTAMP_LENGTH, writeTimestamp } from './timestamp.ts'
