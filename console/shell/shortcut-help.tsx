import { useRoute } from '../base/router.ts'
import { Dialog } from '../design/dialog.tsx'
import { t, type TextKey } from '../i18n/index.ts'
import '../i18n/texts/help.ts'
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

/** The build copies the page of the documentation, and puts its address here. */
const GUIDE = new URL('../../docs/console.md', import.meta.url)

/** The sentence about each screen, by its address, and the heading of its section in the guide. */
const SCREEN_HELP: Readonly<Record<string, readonly [text: TextKey, heading: string]>> = {
  '': ['help.home', 'Inicio'],
  dominios: ['help.dominios', 'Dominios'],
  triaje: ['help.triaje', 'Triaje'],
  agregar: ['help.agregar', 'Agregar nombres'],
  importar: ['help.importar', 'Importar'],
  descartados: ['help.descartados', 'Descartados'],
  reglas: ['help.reglas', 'Reglas'],
  actividad: ['help.actividad', 'Lo que hice hoy'],
  cifras: ['help.cifras', 'Estadísticas'],
  vigilancias: ['help.vigilancias', 'Alertas'],
  imagenes: ['help.imagenes', 'Imágenes'],
  espacio: ['help.espacio', 'Imágenes'],
  claves: ['help.claves', 'Claves and Sistema'],
  sistema: ['help.sistema', 'Claves and Sistema'],
}

/** How the screen works, in a sentence, and its section of the guide: a text, in which the browser finds the heading. */
function ScreenHelp() {
  const [text, heading] = SCREEN_HELP[useRoute().path.split('/')[0] ?? ''] ?? []
  if (text === undefined || heading === undefined) return null
  return (
    <p>
      {t(text)}{' '}
      <a
        href={`${GUIDE.href}#:~:text=${encodeURIComponent(`## ${heading}`)}`}
        target="_blank"
        rel="noreferrer"
      >
        {t('help.guide')}
      </a>
    </p>
  )
}

export default function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const isOn = useStore(letterShortcuts)
  const groups = useStore(activeShortcuts)
  return (
    <Dialog title={t('app.help')} onClose={onClose}>
      <ScreenHelp />
      <h3>{t('keys.title')}</h3>
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
