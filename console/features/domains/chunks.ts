import { toChunk } from '../../design/chunk.tsx'

/** Fetched when they are needed, and ahead of that by the screen. */
export const bulk = toChunk(() => import('./bulk.ts'))
export const adjacentRecord = toChunk(() => import('./adjacent-record.ts'))
