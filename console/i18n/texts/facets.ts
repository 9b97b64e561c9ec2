import { inBoth } from '../in-both.ts'

/** Counts beside the filters, and the strip of days. */
export const facets = inBoth(
  {
    'facets.days': 'Días: inscritos y eliminados',
    'facets.lengths': 'Largo',
    'facets.agents': 'Agente',
    'facets.length': '{n} caracteres',
    'facets.others': 'y {n} de otros agentes',
    'facets.registered.one': '{n} inscrito',
    'facets.registered.other': '{n} inscritos',
    'facets.deleted.one': '{n} eliminado',
    'facets.deleted.other': '{n} eliminados',
  },
  {
    'facets.days': 'Days: registered and deleted',
    'facets.lengths': 'Length',
    'facets.agents': 'Agent',
    'facets.length': '{n} characters',
    'facets.others': 'and {n} of other agents',
    'facets.registered.one': '{n} registered',
    'facets.registered.other': '{n} registered',
    'facets.deleted.one': '{n} deleted',
    'facets.deleted.other': '{n} deleted',
  },
)
