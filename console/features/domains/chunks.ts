import { chunkOf } from '../../api/chunk.ts'

/** Fetched when they are needed, and ahead of that by the screen. */
export const bulk = chunkOf(() => import('./bulk.ts'))
export const adjacentRecord = chunkOf(() => import('./adjacent-record.ts'))
