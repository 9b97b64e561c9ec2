import { inBoth } from '../dictionary.ts'

/** One name at a time. */
export const triage = inBoth(
  {
    'triage.view': 'Triar esta vista',
    'triage.all': 'Todos los dominios',
    'triage.done': 'No queda nada por revisar',
    'triage.doneText': 'Todos los nombres de esta vista están marcados o se saltaron.',
    'triage.more': 'Buscar más',
    'triage.skip': 'Saltar',
    'triage.space': 'espacio',
    'triage.left': 'quedan {n}',
    'triage.looking': 'Buscando nombres sin marca: {n} revisados',
    'triage.skipped.one': '{n} saltado',
    'triage.skipped.other': '{n} saltados',
    'triage.showSkipped.one': 'Ver el saltado',
    'triage.showSkipped.other': 'Ver los {n} saltados',
  },
  {
    'triage.view': 'Triage this view',
    'triage.all': 'All domains',
    'triage.done': 'Nothing left to review',
    'triage.doneText': 'All names in this view are marked or were skipped.',
    'triage.more': 'Look for more',
    'triage.skip': 'Skip',
    'triage.space': 'space',
    'triage.left': '{n} left',
    'triage.looking': 'Looking for unmarked names: {n} checked',
    'triage.skipped.one': '{n} skipped',
    'triage.skipped.other': '{n} skipped',
    'triage.showSkipped.one': 'Show the skipped one',
    'triage.showSkipped.other': 'Show the {n} skipped ones',
  },
)
