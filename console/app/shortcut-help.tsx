import { Dialog } from '../design/dialog.tsx'
import { t, type TextKey } from '../i18n/index.ts'
import '../i18n/texts/shortcuts.ts'
import { letterShortcuts, enableLetterShortcuts } from './shortcuts.ts'
import { useStore } from './store.ts'

const ROWS: readonly (readonly [keys: readonly string[], text: TextKey])[] = [
  [['Ctrl K'], 'keys.palette'],
  [['/'], 'keys.search'],
  [['↑', '↓'], 'keys.move'],
  [['Enter'], 'keys.open'],
  [['r'], 'keys.review'],
  [['d'], 'keys.discard'],
  [['z'], 'keys.undo'],
  [['x'], 'keys.select'],
  [['j', 'k'], 'keys.next'],
  [['Esc'], 'keys.close'],
  [['?'], 'keys.help'],
]

export default function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const isOn = useStore(letterShortcuts)
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      <table className="plain">
        <tbody>
          {ROWS.map(([keys, text]) => (
            <tr key={text}>
              <th scope="row">
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
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
