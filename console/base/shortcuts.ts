import { useEffect, useLayoutEffect } from 'react'
import { browserStorage } from './browser-storage.ts'
import type { ShortcutGroup, SHORTCUTS } from './shortcut-table.ts'
import { createStore } from './store.ts'

const STORAGE_KEY = 'catalejo.letters'

/** Whether single-letter shortcuts are on (WCAG 2.1.4: users can turn them off). */
export const letterShortcuts = createStore(browserStorage.read(STORAGE_KEY) !== 'off')

export function enableLetterShortcuts(isOn: boolean): void {
  browserStorage.write(STORAGE_KEY, isOn ? 'on' : 'off')
  letterShortcuts.set(isOn)
}

/** The groups of shortcuts that work now: those of the screen, and those of every screen. */
export const activeShortcuts = createStore<readonly ShortcutGroup[]>([])

type Handler = (event: KeyboardEvent) => void

/**
 * Binds a group of shortcuts for any focus, except letters in text fields, keys without a modifier below an open menu,
 * and anything below an open dialog. Escape in a text field only leaves the field.
 * @param dialogs how many dialogs are open where the shortcuts apply
 */
export function useShortcuts<G extends ShortcutGroup>(
  group: G,
  bound: Readonly<Record<keyof (typeof SHORTCUTS)[G], Handler>>,
  dialogs = 0,
): void {
  useEffect(() => {
    activeShortcuts.set([...activeShortcuts.get(), group])
    return () => activeShortcuts.set(activeShortcuts.get().filter((one) => one !== group))
  }, [group])
  const handlers: Readonly<Record<string, Handler>> = bound
  // A key acts on what is shown: browsers deliver it before they run the other effects of a change.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isModified = event.ctrlKey || event.metaKey
      const handler = handlers[isModified ? `mod+${event.key.toLowerCase()}` : event.key]
      if (handler === undefined || event.altKey || event.defaultPrevented || event.isComposing) return
      const isTyped = !isModified && event.key.length === 1
      if (isTyped && (takesLetters(event.target) || (event.key !== ' ' && !letterShortcuts.get()))) return
      if (document.querySelectorAll('dialog[open]').length > dialogs) return
      // The focus gets to an entry of a menu after the menu is open.
      if (!isModified && document.querySelector('.menu-panel, :popover-open') !== null) return
      if (event.key === 'Escape' && takesLetters(event.target)) {
        // Browsers would also empty a search field, and with it the filters.
        event.preventDefault()
        event.target.blur()
      } else handler(event)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
}

/** Whether typed letters are text there. */
export function takesLetters(target: EventTarget | null): target is HTMLElement {
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]')
  )
}
