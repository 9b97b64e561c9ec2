import type { TextKey } from '../i18n/index.ts'

/**
 * All shortcuts by the screen that binds them, in the order in which the help lists them. `useShortcuts` takes exactly
 * these keys, so that none is bound without being listed. `mod+` is Ctrl or Cmd.
 */
export const SHORTCUTS = {
  everywhere: { 'mod+k': 'keys.palette' },
  domains: {
    '/': 'keys.search',
    r: 'keys.review',
    d: 'keys.discard',
    z: 'keys.undo',
    x: 'keys.select',
    X: 'keys.selectRange',
    j: 'keys.next',
    k: 'keys.next',
    Escape: 'keys.close',
  },
  table: {
    ArrowUp: 'keys.move',
    ArrowDown: 'keys.move',
    PageUp: 'keys.move',
    PageDown: 'keys.move',
    Home: 'keys.move',
    End: 'keys.move',
    Enter: 'keys.open',
    ' ': 'keys.select',
    'mod+a': 'keys.selectAll',
  },
  images: { '/': 'keys.search', z: 'keys.undo', Escape: 'keys.close' },
  image: { ArrowLeft: 'keys.next', ArrowRight: 'keys.next' },
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
