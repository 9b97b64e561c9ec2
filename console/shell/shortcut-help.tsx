import { useRoute } from '../base/router.ts'
import { Dialog } from '../design/dialog.tsx'
import { Check } from '../design/field.tsx'
import { language, t, type TextKey } from '../i18n/index.ts'
import '../i18n/texts/help.ts'
import {
  SHORTCUTS,
  type ShortcutGroup,
  activeShortcuts,
  enableLetterShortcuts,
  letterShortcuts,
} from '../base/shortcuts.ts'
import { useStore } from '../base/store.ts'

/** Names of keys, where they are not those of `KeyboardEvent`. */
const NAMES: Readonly<Record<string, string>> = {
  'mod+k': 'Ctrl K',
  'mod+a': 'Ctrl A',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Backspace: '⌫',
  Escape: 'Esc',
}
const WORDS: Readonly<Record<string, TextKey>> = {
  ' ': 'keys.space',
  PageUp: 'keys.pageUp',
  PageDown: 'keys.pageDown',
  Home: 'keys.home',
  End: 'keys.end',
  X: 'keys.shiftX',
}

function nameOf(key: string): string {
  const word = WORDS[key]
  return word === undefined ? (NAMES[key] ?? key) : t(word)
}

/** The shortcuts that work now, those with the same effect in one row. */
function toRows(groups: readonly ShortcutGroup[]): readonly (readonly [TextKey, readonly string[]])[] {
  const keys = new Map<TextKey, string[]>()
  for (const [group, shortcuts] of Object.entries(SHORTCUTS)) {
    if (!groups.some((one) => one === group)) continue
    for (const [key, text] of Object.entries(shortcuts)) keys.set(text, [...(keys.get(text) ?? []), key])
  }
  return [...keys]
}

/** The pages that the build makes of the documentation. */
const GUIDES = { es: 'guia.html', en: 'guide.html' } as const

/** The sentence about each screen, by its address, and its sections of the guides. */
const SCREEN_HELP: Readonly<Record<string, readonly [text: TextKey, es: string, en: string]>> = {
  '': ['help.home', 'ver-qué-hay-de-nuevo', 'inicio'],
  dominios: ['help.dominios', 'buscar-dominios', 'dominios'],
  triaje: ['help.triaje', 'clasificar-nombres', 'triaje'],
  agregar: ['help.agregar', 'agregar-unos-pocos-nombres', 'agregar-nombres'],
  importar: ['help.importar', 'importar-una-lista', 'importar'],
  descartados: ['help.descartados', 'recuperar-lo-descartado', 'descartados'],
  reglas: ['help.reglas', 'ocultar-y-etiquetar-con-reglas', 'reglas'],
  actividad: ['help.actividad', 'marcar-y-deshacer', 'lo-que-hice-hoy'],
  campanas: ['help.campanas', 'encontrar-campañas', 'campañas'],
  cifras: ['help.cifras', 'ver-estadísticas', 'estadísticas'],
  vigilancias: ['help.vigilancias', 'recibir-alertas', 'alertas'],
  imagenes: ['help.imagenes', 'subir-y-compartir-imágenes', 'imágenes'],
  espacio: ['help.espacio', 'subir-y-compartir-imágenes', 'imágenes'],
  claves: ['help.claves', 'administrar-claves', 'claves-auditoría-and-sistema'],
  auditoria: ['help.auditoria', 'administrar-claves', 'claves-auditoría-and-sistema'],
  sistema: ['help.sistema', 'administrar-claves', 'claves-auditoría-and-sistema'],
}

/** How the screen works, in a sentence, and its section of the guide. */
function ScreenHelp() {
  const spoken = useStore(language)
  const found = SCREEN_HELP[useRoute().path.split('/')[0] ?? '']
  if (found === undefined) return null
  const [text, es, en] = found
  const section = { es, en }[spoken]
  return (
    <p>
      {t(text)}{' '}
      <a href={`${GUIDES[spoken]}#${section}`} target="_blank" rel="noreferrer">
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
          {toRows(groups).map(([text, keys]) => (
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
      <Check label={t('keys.on')} value={isOn} onChange={enableLetterShortcuts} />
    </Dialog>
  )
}
