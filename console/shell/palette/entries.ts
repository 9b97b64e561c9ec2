import { SERVICES, session } from '../../api/session.ts'
import type { Permission } from '../../api/scope.ts'
import { currentActions, type Action } from '../../design/actions.ts'
import { navigate } from '../../base/router.ts'
import { SCREENS } from '../screens.ts'
import { chooseTheme, theme, THEMES } from '../../base/theme.ts'
import type { IconName } from '../../design/icon.tsx'
import { chooseLanguage, language, t } from '../../i18n/index.ts'

/** An entry of the palette. */
export interface Entry {
  readonly id: string
  readonly label: string
  readonly icon: IconName
  /** Its shortcut, or why it is not available. */
  readonly hint?: string | undefined
  readonly run: () => void
}

/** The screens available to the session's keys. */
export function screenEntries(may: (ability: Permission) => boolean): Entry[] {
  const keys = session.get()
  const open = SCREENS.filter(({ service }) => keys[service] !== undefined)
  const toScreen = (path: string) => () => {
    navigate(path)
    document.querySelector<HTMLElement>('#content')?.focus()
  }
  const home: Entry = { id: 'screen-home', label: t('nav.home'), icon: 'home', run: toScreen('') }
  const screens = open.map(({ path, title, icon, needs }): Entry => ({
    id: `screen-${path}`,
    label: t(title),
    icon,
    hint: needs === undefined || may(needs) ? undefined : t('scope.locked'),
    run: toScreen(path),
  }))
  return SERVICES.some((service) => service !== 'admin' && keys[service] !== undefined)
    ? [home, ...screens]
    : screens
}

/** The actions of the current screen. */
export const actionEntries = (): Entry[] =>
  currentActions().map(({ id, label, icon, key, run }: Action) => ({
    id: `action-${id}`,
    label,
    icon,
    hint: key,
    run,
  }))

/** Preferences. */
export function choiceEntries(): Entry[] {
  const other = language.get() === 'es' ? 'en' : 'es'
  return [
    ...THEMES.filter((one) => one !== theme.get()).map((one): Entry => ({
      id: `theme-${one}`,
      label: t('palette.theme', { theme: t(`theme.${one}`) }),
      icon: one === 'dark' ? 'moon' : 'sun',
      run: () => chooseTheme(one),
    })),
    {
      id: 'language',
      label: t('palette.language'),
      icon: 'globe',
      run: () => chooseLanguage(other),
    },
  ]
}
