import { useEffect } from 'react'
import { createStore } from './store.ts'

const PLACE = 'catalejo.letters'

/** Whether single-letter shortcuts are on (WCAG 2.1.4: users can turn them off). */
export const letters = createStore(localStorage.getItem(PLACE) !== 'off')

export function switchLetters(isOn: boolean): void {
  localStorage.setItem(PLACE, isOn ? 'on' : 'off')
  letters.set(isOn)
}

/** `mod+k`, `Escape`, or the letter itself. */
export type Handlers = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** Shortcuts for any focus, except letters in text fields and anything below an open dialog. */
export function useKeys(handlers: Handlers): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isModified = event.ctrlKey || event.metaKey
      const handler = handlers[isModified ? `mod+${event.key.toLowerCase()}` : event.key]
      if (handler === undefined || event.altKey || event.defaultPrevented) return
      const isLetter = !isModified && event.key.length === 1
      if (isLetter && (!letters.get() || isTyping(event.target))) return
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
