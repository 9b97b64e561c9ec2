import { useStore } from '../base/store.ts'
import { chooseTheme, theme, THEMES } from '../base/theme.ts'
import { chooseLanguage, language, t } from '../i18n/index.ts'

/** Language and appearance. */
export function Preferences() {
  const chosen = useStore(theme)
  const spoken = useStore(language)
  return (
    <div className="choices">
      <label>
        <span className="visually-hidden">{t('app.language')}</span>
        <select
          className="input"
          value={spoken}
          onChange={(event) => chooseLanguage(event.target.value === 'en' ? 'en' : 'es')}
        >
          <option value="es">Español</option>
          <option value="en">English</option>
        </select>
      </label>
      <label>
        <span className="visually-hidden">{t('app.theme')}</span>
        <select
          className="input"
          value={chosen}
          onChange={(event) => chooseTheme(THEMES.find((one) => one === event.target.value) ?? 'system')}
        >
          {THEMES.map((one) => (
            <option key={one} value={one}>
              {t(`theme.${one}`)}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}
