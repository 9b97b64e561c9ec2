import { createStore } from './store.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const PLACE = 'catalejo.theme'

export const theme = createStore<Theme>(THEMES.find((one) => one === localStorage.getItem(PLACE)) ?? 'system')

export function chooseTheme(next: Theme): void {
  localStorage.setItem(PLACE, next)
  theme.set(next)
  showTheme()
}

export function showTheme(): void {
  document.documentElement.dataset['theme'] = theme.get()
}
