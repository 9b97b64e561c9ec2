import { inBoth } from '../in-both.ts'

/** One name at a time. */
export const triage = inBoth(
  {
    'triage.done': 'No queda nada por mirar',
    'triage.doneText': 'Los nombres más nuevos ya tienen marca o fueron vistos.',
    'triage.more': 'Buscar más',
    'triage.skip': 'Saltar',
    'triage.space': 'espacio',
    'triage.left': 'quedan {n}',
  },
  {
    'triage.done': 'Nothing left to look at',
    'triage.doneText': 'The newest names are marked or were seen.',
    'triage.more': 'Look for more',
    'triage.skip': 'Skip',
    'triage.space': 'space',
    'triage.left': '{n} left',
  },
)
