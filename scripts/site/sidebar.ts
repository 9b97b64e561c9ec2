/** The title of each page by its address, in groups. */
export type Sidebar = Readonly<Record<string, Readonly<Record<string, string>>>>

export const ENGLISH: Sidebar = {
  Tutorial: { '': 'Quick start', 'operations/server-in-15-minutes': 'A server in 15 minutes' },
  Guides: {
    console: 'Console',
    signals: 'Signals and rankings',
    clients: 'Clients',
    'moving-in': 'Move in from another image service',
    'operations/registry-lists': 'Follow NIC Chile’s lists',
    'operations/import-export': 'Import and export',
  },
  Reference: {
    'api/': 'HTTP API',
    'api/domainwatch': 'domainwatch',
    'api/domainwatch-lists': 'Lists and exports',
    'api/domainwatch-decisions': 'Decisions',
    'api/domainwatch-analysis': 'Lookalikes and statistics',
    'api/domainwatch-dns': 'DNS',
    'api/watches': 'Watches',
    'api/rules': 'Rules',
    'api/events': 'Events and history',
    'api/jobs': 'Jobs',
    'api/imagestore': 'imagestore',
    'api/imagestore-tickets': 'Uploads of visitors',
    'api/imagestore-links': 'Public links',
    modifiers: 'Modifiers of images',
    'api/admin': 'Administration',
    'operations/command-line': 'Command line',
    'operations/configuration': 'Configuration',
    'operations/limits': 'Limits',
    CHANGELOG: 'Changes',
  },
  Operations: {
    'operations/': 'Overview',
    'operations/installation': 'Installation',
    'operations/storage': 'Storage',
    'operations/backups': 'Backups',
    'operations/monitoring': 'Monitoring',
    'operations/scaling': 'Scaling',
    'operations/caches': 'Caches and CDNs',
    'operations/upgrading': 'Upgrading',
    'operations/security': 'Security',
    'operations/channels': 'Message channels',
    'operations/troubleshooting': 'Troubleshooting',
  },
  Internals: {
    architecture: 'Architecture',
    decisions: 'Decisions',
    benchmarks: 'Benchmarks',
    CONTRIBUTING: 'Contributing',
  },
}

export const SPANISH: Sidebar = {
  Tutorial: { 'es/': 'Inicio rápido', 'es/servidor-en-15-minutos': 'Un servidor en 15 minutos' },
  Guías: {
    'es/consola': 'La consola, tarea por tarea',
    'es/api-dominios': 'API de dominios',
    'es/api-imagenes': 'API de imágenes',
    'es/operacion': 'Operación',
  },
  'En inglés': { 'api/': 'Referencia de la API', 'operations/': 'Operaciones', modifiers: 'Modificadores' },
}
