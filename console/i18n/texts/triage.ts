import { inBoth } from '../dictionary.ts'

/** One name at a time. */
export const triage = inBoth(
  {
    'triage.view': 'Triar esta vista',
    'triage.done': 'No queda nada por decidir',
    'triage.doneText': 'Todos los nombres de esta vista están decididos, o los tiene otra persona.',
    'triage.more': 'Buscar más',
    'triage.seen': 'Visto',
    'triage.space': 'espacio',
    'triage.left': 'quedan {n}',
    'triage.colleagues': 'También trabajan en esta vista',
    'triage.holds': '{account}: {n}',
    'triage.markedBy': '{mark}: {account}, {date}',
    'triage.serversBefore': 'Hasta {until}:',
    'triage.expired': 'Su turno con este nombre venció: otra persona puede decidir sobre él.',
    'triage.taken': 'Otra persona decidió sobre este nombre, o lo tiene ahora.',
    'triage.nextName': 'Siguiente',
  },
  {
    'triage.view': 'Triage this view',
    'triage.done': 'Nothing left to decide',
    'triage.doneText': 'All names in this view are decided, or somebody else holds them.',
    'triage.more': 'Look for more',
    'triage.seen': 'Seen',
    'triage.space': 'space',
    'triage.left': '{n} left',
    'triage.colleagues': 'Also at work on this view',
    'triage.holds': '{account}: {n}',
    'triage.markedBy': '{mark}: {account}, {date}',
    'triage.serversBefore': 'Until {until}:',
    'triage.expired': 'Your turn with this name ran out: somebody else may decide on it.',
    'triage.taken': 'Somebody else decided on this name, or holds it now.',
    'triage.nextName': 'Next',
  },
)
