import { browserStorage } from './browser-storage.ts'
import { createStore } from './store.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const PLACE = 'catalejo.theme'

export const theme = createStore<Theme>(THEMES.find((one) => one === browserStorage.read(PLACE)) ?? 'system')

export function chooseTheme(next: Theme): void {
  browserStorage.write(PLACE, next)
  theme.set(next)
  showTheme()
}

export function showTheme(): void {
  document.documentElement.dataset['theme'] = theme.get()
}
