import type { ComponentType } from 'react'
import type { Permission } from '../api/scope.ts'
import type { ServiceName } from '../api/session.ts'
import type { IconName } from '../design/elements.tsx'
import type { TextKey } from '../i18n/index.ts'
import { lazyScreen } from '../design/chunk.tsx'

export interface Screen {
  readonly path: string
  readonly title: TextKey
  readonly icon: IconName
  /** The service whose key it needs. */
  readonly service: ServiceName
  /** What that key must allow, if not every key does. */
  readonly needs?: Permission
  readonly view: ComponentType
}

/** Each in its own chunk, fetched when it is opened. */
export const SCREENS: readonly Screen[] = [
  {
    path: 'dominios',
    title: 'nav.domains',
    icon: 'globe',
    service: 'domainwatch',
    view: lazyScreen(() => import('../features/domains/screen.tsx')),
  },
  {
    path: 'triaje',
    title: 'nav.triage',
    icon: 'triage',
    service: 'domainwatch',
    needs: 'writeDomains',
    view: lazyScreen(() => import('../features/triage/screen.tsx')),
  },
  {
    path: 'agregar',
    title: 'nav.add',
    icon: 'plus',
    service: 'domainwatch',
    needs: 'writeDomains',
    view: lazyScreen(() => import('../features/add/screen.tsx')),
  },
  {
    path: 'importar',
    title: 'nav.import',
    icon: 'upload',
    service: 'domainwatch',
    needs: 'writeDomains',
    view: lazyScreen(() => import('../features/import/screen.tsx')),
  },
  {
    path: 'descartados',
    title: 'nav.dismissed',
    icon: 'trash',
    service: 'domainwatch',
    view: lazyScreen(() => import('../features/dismissed/screen.tsx')),
  },
  {
    path: 'actividad',
    title: 'nav.activity',
    icon: 'clock',
    service: 'domainwatch',
    view: lazyScreen(() => import('../features/activity/screen.tsx')),
  },
  {
    path: 'cifras',
    title: 'nav.stats',
    icon: 'chart',
    service: 'domainwatch',
    view: lazyScreen(() => import('../features/stats/screen.tsx')),
  },
  {
    path: 'campanas',
    title: 'nav.campaigns',
    icon: 'layers',
    service: 'domainwatch',
    view: lazyScreen(() => import('../features/campaigns/screen.tsx')),
  },
  {
    path: 'vigilancias',
    title: 'nav.watches',
    icon: 'bell',
    service: 'domainwatch',
    view: lazyScreen(() => import('../features/watches/screen.tsx')),
  },
  {
    path: 'reglas',
    title: 'nav.rules',
    icon: 'filter',
    service: 'domainwatch',
    view: lazyScreen(() => import('../features/rules/screen.tsx')),
  },
  {
    path: 'imagenes',
    title: 'nav.images',
    icon: 'images',
    service: 'imagestore',
    needs: 'readImages',
    view: lazyScreen(() => import('../features/images/screen.tsx')),
  },
  {
    path: 'espacio',
    title: 'nav.usage',
    icon: 'chart',
    service: 'imagestore',
    needs: 'readImages',
    view: lazyScreen(() => import('../features/images/usage-screen.tsx')),
  },
  {
    path: 'claves',
    title: 'nav.keys',
    icon: 'key',
    service: 'admin',
    view: lazyScreen(() => import('../features/admin/keys-screen.tsx')),
  },
  {
    path: 'auditoria',
    title: 'nav.audit',
    icon: 'note',
    service: 'admin',
    view: lazyScreen(() => import('../features/admin/audit-screen.tsx')),
  },
  {
    path: 'sistema',
    title: 'nav.system',
    icon: 'gauge',
    service: 'admin',
    view: lazyScreen(() => import('../features/admin/system-screen.tsx')),
  },
]

export const HomeScreen = lazyScreen(() => import('../features/home/screen.tsx'))

export const GROUPS = [
  { service: 'domainwatch', title: 'nav.group.domains' },
  { service: 'imagestore', title: 'nav.group.images' },
  { service: 'admin', title: 'nav.group.admin' },
] as const
