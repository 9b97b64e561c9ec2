import { inBoth } from '../in-both.ts'

/** One name at a time. */
export const triage = inBoth(
  {
    'triage.view': 'Triar esta vista',
    'triage.all': 'Todos los dominios',
    'triage.done': 'No queda nada por mirar',
    'triage.doneText': 'Todos los nombres de esta vista tienen marca o fueron saltados.',
    'triage.more': 'Buscar más',
    'triage.skip': 'Saltar',
    'triage.space': 'espacio',
    'triage.left': 'quedan {n}',
    'triage.looking': 'Buscando nombres sin marca: {n} mirados',
    'triage.skipped.one': '{n} saltado',
    'triage.skipped.other': '{n} saltados',
    'triage.showSkipped.one': 'Ver el que se saltó',
    'triage.showSkipped.other': 'Ver los {n} que se saltaron',
  },
  {
    'triage.view': 'Triage this view',
    'triage.all': 'All domains',
    'triage.done': 'Nothing left to look at',
    'triage.doneText': 'All names of this view are marked or were skipped.',
    'triage.more': 'Look for more',
    'triage.skip': 'Skip',
    'triage.space': 'space',
    'triage.left': '{n} left',
    'triage.looking': 'Looking for unmarked names: {n} seen',
    'triage.skipped.one': '{n} skipped',
    'triage.skipped.other': '{n} skipped',
    'triage.showSkipped.one': 'Show the skipped one',
    'triage.showSkipped.other': 'Show the {n} skipped ones',
  },
)
