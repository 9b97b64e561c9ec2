import type { TextKey } from '../i18n/index.ts'
import { useEffect, useLayoutEffect } from 'react'
import { browserStorage } from './browser-storage.ts'
import { createStore } from './store.ts'

/**
 * All shortcuts by the screen that binds them, in the order in which the help lists them. `useShortcuts` takes exactly
 * these keys, so that none is bound without being listed. `mod+` is Ctrl or Cmd.
 */
export const SHORTCUTS = {
  everywhere: { 'mod+k': 'palette.title' },
  domains: {
    '/': 'keys.search',
    r: 'keys.review',
    d: 'keys.discard',
    z: 'app.undo',
    x: 'domains.select',
    X: 'keys.selectRange',
    j: 'keys.next',
    k: 'keys.next',
    Escape: 'app.close',
  },
  table: {
    ArrowUp: 'keys.move',
    ArrowDown: 'keys.move',
    PageUp: 'keys.move',
    PageDown: 'keys.move',
    Home: 'keys.move',
    End: 'keys.move',
    Enter: 'keys.open',
    ' ': 'domains.select',
    'mod+a': 'domains.selectLoaded',
  },
  images: { '/': 'keys.search', z: 'app.undo', Escape: 'app.close' },
  image: { ArrowLeft: 'keys.next', ArrowRight: 'keys.next' },
  compare: {
    '+': 'keys.zoom',
    '-': 'keys.zoom',
    '0': 'images.zoomFit',
    ArrowLeft: 'keys.pan',
    ArrowRight: 'keys.pan',
    ArrowUp: 'keys.pan',
    ArrowDown: 'keys.pan',
  },
  triage: {
    r: 'keys.reviewThis',
    d: 'keys.discardThis',
    ' ': 'keys.leaveThis',
    n: 'keys.note',
    z: 'keys.back',
    Backspace: 'keys.back',
  },
  help: { '?': 'keys.help' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, TextKey>>>>

export type ShortcutGroup = keyof typeof SHORTCUTS

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
      if (!isModified && document.querySelector(':popover-open') !== null) return
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

/** Returns a handler that ignores key repeats. */
export const once =
  (act: () => void): Handler =>
  ({ repeat }) => {
    if (!repeat) act()
  }

/** Whether typed letters are text there. */
export function takesLetters(target: EventTarget | null): target is HTMLElement {
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]')
  )
}
