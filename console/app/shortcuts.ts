import { useEffect } from 'react'
import { createStore } from './store.ts'

const STORAGE_KEY = 'catalejo.letters'

/** Whether single-letter shortcuts are on (WCAG 2.1.4: users can turn them off). */
export const letterShortcuts = createStore(localStorage.getItem(STORAGE_KEY) !== 'off')

export function enableLetterShortcuts(isOn: boolean): void {
  localStorage.setItem(STORAGE_KEY, isOn ? 'on' : 'off')
  letterShortcuts.set(isOn)
}

/** `mod+k`, `Escape`, or the letter itself. */
export type ShortcutHandlers = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** Shortcuts for any focus, except letters in text fields and anything below an open dialog. */
export function useShortcuts(handlers: ShortcutHandlers): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isModified = event.ctrlKey || event.metaKey
      const handler = handlers[isModified ? `mod+${event.key.toLowerCase()}` : event.key]
      if (handler === undefined || event.altKey || event.defaultPrevented) return
      const isLetter = !isModified && event.key.length === 1
      if (isLetter && (!letterShortcuts.get() || isTyping(event.target))) return
      if (document.querySelector('dialog[open]') !== null) return
      handler(event)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]')
  )
}
