import { LRUCache } from 'lru-cache'

/**
 * A cache of the `max` most recently used entries that grows as it fills. With `max` alone the library allocates everything in
 * advance, 2.6 MB for 100,000 entries; with a total size it does not.
 */
export function lruCache<V extends {}>(max: number): LRUCache<string, V> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 })
}
