import { Dialog } from '../design/dialog.tsx'
import { t, type TextKey } from '../i18n/index.ts'
import '../i18n/texts/shortcuts.ts'
import { SHORTCUTS, type ShortcutGroup } from '../base/shortcut-table.ts'
import { activeShortcuts, enableLetterShortcuts, letterShortcuts } from '../base/shortcuts.ts'
import { useStore } from '../base/store.ts'

/** Names of keys, where they are not those of `KeyboardEvent`. */
const NAMES: Readonly<Record<string, string>> = {
  'mod+k': 'Ctrl K',
  'mod+a': 'Ctrl A',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Backspace: '⌫',
  Escape: 'Esc',
  X: '⇧ X',
}

const nameOf = (key: string) => (key === ' ' ? t('keys.space') : (NAMES[key] ?? key))

/** The shortcuts that work now, those with the same effect in one row. */
function rowsOf(groups: readonly ShortcutGroup[]): readonly (readonly [TextKey, readonly string[]])[] {
  const keys = new Map<TextKey, string[]>()
  for (const [group, shortcuts] of Object.entries(SHORTCUTS)) {
    if (!groups.some((one) => one === group)) continue
    for (const [key, text] of Object.entries(shortcuts)) keys.set(text, [...(keys.get(text) ?? []), key])
  }
  return [...keys]
}

export default function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const isOn = useStore(letterShortcuts)
  const groups = useStore(activeShortcuts)
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      <table className="plain">
        <tbody>
          {rowsOf(groups).map(([text, keys]) => (
            <tr key={text}>
              <th scope="row">
                {keys.map((key) => (
                  <kbd key={key}>{nameOf(key)}</kbd>
                ))}
              </th>
              <td>{t(text)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => enableLetterShortcuts(event.target.checked)}
        />
        {t('keys.on')}
      </label>
    </Dialog>
  )
}
