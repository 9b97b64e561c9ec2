import { useState } from 'react'
import { useAccounts, useScopes } from '../api/scope.ts'
import { SERVICES, session, signOut } from '../api/session.ts'
import { useStore } from '../base/store.ts'
import { chooseTheme, theme, THEMES } from '../base/theme.ts'
import { hasUnsavedWork } from '../base/unsaved-work.ts'
import { useActions } from '../design/actions.ts'
import { MenuEntry, Icon, Menu } from '../design/elements.tsx'
import { chooseLanguage, language, t, LANGUAGES, languageName } from '../i18n/index.ts'
import { ConfirmDialog } from '../design/dialog.tsx'
import { Select } from '../design/field.tsx'

/** The account and keys of the session, and the preferences of this browser: language and theme. */
export function SessionMenu({ onAddKey }: { onAddKey: () => void }) {
  const keys = useStore(session)
  const getAccount = useAccounts()
  const getScope = useScopes()
  const services = SERVICES.filter((service) => keys[service] !== undefined)
  const account = services.map(getAccount).find((one) => one !== undefined)
  const [isAsking, setAsking] = useState(false)
  const askToLeave = () => (hasUnsavedWork() ? setAsking(true) : signOut())
  useActions(() => [
    {
      id: 'sign-out',
      label: t('app.signOut'),
      also: t('app.signOutAlso'),
      icon: 'out',
      isLast: true,
      run: askToLeave,
    },
  ])
  const menu = (
    <Menu
      label={account ?? t('app.keys')}
      icon="person"
      isNamed
      fullName={account === undefined ? t('app.keys') : `${t('app.keys')}: ${account}`}
      className="button quiet who"
    >
      <ul className="who-keys" aria-label={t('app.keys')}>
        {services.map((service) => {
          const scope = getScope(service)
          return (
            <li key={service}>
              <strong>{getAccount(service) ?? '…'}</strong>
              <span className="muted">
                {t('app.keyOf', { service: t(`service.${service}`) })}
                {scope === 'full' ? '' : ` · ${t(`scope.name.${scope}`)}`}
              </span>
            </li>
          )
        })}
      </ul>
      <Preferences />
      <MenuEntry icon="key" label={t('app.addKey')} onClick={onAddKey} />
      <button type="button" className="fault-text" data-closes onClick={askToLeave}>
        <Icon name="out" />
        {t('app.signOut')}
      </button>
    </Menu>
  )
  return (
    <>
      {menu}
      {isAsking && (
        <ConfirmDialog
          title={t('app.signOutTitle')}
          text={t('app.signOutText')}
          action={t('app.signOutAnyway')}
          onConfirm={signOut}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}

/** Language and appearance. */
export function Preferences() {
  const chosen = useStore(theme)
  const spoken = useStore(language)
  return (
    <div className="choices">
      <label>
        <span className="visually-hidden">{t('app.language')}</span>
        <Select value={spoken} options={LANGUAGES} textOf={languageName} onChange={chooseLanguage} />
      </label>
      <label>
        <span className="visually-hidden">{t('app.theme')}</span>
        <Select value={chosen} options={THEMES} textOf={(one) => t(`theme.${one}`)} onChange={chooseTheme} />
      </label>
    </div>
  )
}

/** The spyglass. */
export function Logo() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M3.500 20.500 20 11.300l3.200 5.800L6.700 26.300z" />
      <path d="m20 11.300 4.800-5.300 4.600 8.200-6.200 2.900" />
      <path d="m13 15.200 3.200 5.800" />
    </svg>
  )
}
