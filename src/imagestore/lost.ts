/**
 * An image whose bytes are lost keeps its rows: its applications can still see what they lost, delete it, or upload the
 * same bytes again, which stores them anew. Its blob then has a key that no bytes are under, made of the old one, so
 * that bytes that turn up under that (from a backup, a disk that is back) are known again.
 */
const LOST = '.lost'

export const isLost = (key: string): boolean => key.endsWith(LOST)

export const lostKey = (key: string): string => (isLost(key) ? key : key + LOST)

/** The key that the bytes were, or are, under. */
export const bytesKey = (key: string): string => (isLost(key) ? key.slice(0, -LOST.length) : key)
