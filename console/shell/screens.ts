import type { ComponentType } from 'react'
import type { Permission } from '../api/scope.ts'
import type { ServiceName } from '../api/session.ts'
import type { IconName } from '../design/elements.tsx'
import type { TextKey } from '../i18n/index.ts'
import { lazyScreen, type Load } from '../design/chunk.tsx'

export interface Screen {
  readonly path: string
  readonly title: TextKey
  readonly icon: IconName
  /** The service whose key it needs. */
  readonly service: ServiceName
  /** What that key must allow, if not every key does. */
  readonly needs: Permission | undefined
  readonly view: ComponentType
}

type Entry = readonly [path: string, title: TextKey, icon: IconName, load: Load<object>, needs?: Permission]

/** Each screen in its own chunk, fetched when it is opened. */
const group = (service: ServiceName, title: TextKey, entries: readonly Entry[]) => ({
  service,
  title,
  screens: entries.map(([path, name, icon, load, needs]): Screen => {
    return { path, title: name, icon, service, needs, view: lazyScreen(load) }
  }),
})

export const GROUPS = [
  group('domainwatch', 'nav.group.domains', [
    ['dominios', 'nav.domains', 'globe', () => import('../features/domains/screen.tsx')],
    ['triaje', 'nav.triage', 'triage', () => import('../features/triage/screen.tsx'), 'writeDomains'],
    ['agregar', 'nav.add', 'plus', () => import('../features/add/screen.tsx'), 'writeDomains'],
    ['importar', 'nav.import', 'upload', () => import('../features/import/screen.tsx'), 'writeDomains'],
    ['descartados', 'nav.dismissed', 'trash', () => import('../features/dismissed/screen.tsx')],
    ['actividad', 'nav.activity', 'clock', () => import('../features/activity/screen.tsx')],
    ['cifras', 'nav.stats', 'chart', () => import('../features/stats/screen.tsx')],
    ['campanas', 'nav.campaigns', 'layers', () => import('../features/campaigns/screen.tsx')],
    ['vigilancias', 'nav.watches', 'bell', () => import('../features/watches/screen.tsx')],
    ['reglas', 'nav.rules', 'filter', () => import('../features/rules/screen.tsx')],
  ]),
  group('imagestore', 'nav.images', [
    ['imagenes', 'nav.images', 'images', () => import('../features/images/screen.tsx'), 'readImages'],
    ['espacio', 'nav.usage', 'chart', () => import('../features/images/usage-screen.tsx'), 'readImages'],
  ]),
  group('admin', 'nav.group.admin', [
    ['claves', 'nav.keys', 'key', () => import('../features/admin/keys-screen.tsx')],
    ['auditoria', 'nav.audit', 'note', () => import('../features/admin/audit-screen.tsx')],
    ['sistema', 'nav.system', 'gauge', () => import('../features/admin/system-screen.tsx')],
  ]),
]

export const SCREENS = GROUPS.flatMap(({ screens }) => screens)

export const HomeScreen = lazyScreen(() => import('../features/home/screen.tsx'))
