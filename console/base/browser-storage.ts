/** Values kept beyond this page. Browsers may forbid that, and their room is limited. */
export interface BrowserStorage {
  /** Null if there is none, or the browser forbids it. */
  read(name: string): string | null
  /** Returns whether the browser kept it. */
  write(name: string, value: string): boolean
  remove(name: string): void
}

/** @param open throws if the browser forbids storage */
function getStorage(open: () => Storage): BrowserStorage {
  return {
    read(name) {
      try {
        return open().getItem(name)
      } catch {
        return null
      }
    },
    write(name, value) {
      try {
        open().setItem(name, value)
        return true
      } catch {
        return false
      }
    },
    remove(name) {
      try {
        open().removeItem(name)
      } catch {
        // There is nothing to remove.
      }
    },
  }
}

/** Shared by the tabs of this browser. */
export const browserStorage = getStorage(() => localStorage)
/** Of this tab only. */
export const tabStorage = getStorage(() => sessionStorage)

/** Calls a listener when another tab has written a value, or removed it (null). Returns a function that ends it. */
export function onOtherTab(
  listener: (name: string, before: string | null, now: string | null) => void,
): () => void {
  const hear = ({ key, oldValue, newValue }: StorageEvent) => {
    if (key !== null) listener(key, oldValue, newValue)
  }
  addEventListener('storage', hear)
  return () => removeEventListener('storage', hear)
}
