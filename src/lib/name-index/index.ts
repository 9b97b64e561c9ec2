export { allMatches, anyMatches, countMatches, compareNames, MergedSearch } from './merged-search.ts'
export { toColumns, isIndexable, type BuildOptions, type IndexedRecord } from './column-builder.ts'
export {
  BLOCK,
  deletionBounds,
  numberBounds,
  ORDERS,
  registrationBounds,
  type Columns,
  type Order,
} from './columns.ts'
export { Layout, type Trait } from './planes.ts'
export { compileQuery, type Candidates, type DateColumn, type IndexQuery, type IndexTerm } from './query.ts'
export { compareBytes, Segment, type EntryKey, type Hit, type Marks } from './segment.ts'
export { mergeParts, toPart, SegmentSet, type EntryKeys, type SegmentPart } from './segment-set.ts'
export { finish, finishNow, TimeSlice, type SlicedWork } from './slices.ts'
export {
  isNumberOrder,
  toNumberKey,
  sortedMatches,
  type NumberOrder,
  type SortedOrder,
} from './sorted-matches.ts'
export { formatTimestamp, parseTimestamp, TIMESTAMP_LENGTH, wholeYears, writeTimestamp } from './timestamp.ts'
export { twinKey, visitTwins } from './twins.ts'
