import { inBoth } from '../dictionary.ts'

/** Saved views. */
export const views = inBoth(
  {
    'views.triage': 'Triar esta vista',
    'views.title': 'Vistas guardadas',
    'views.save': 'Guardar esta vista',
    'views.remove': 'Quitar la vista guardada',
    'views.removed': 'Vista quitada',
    'views.name': 'Nombre',
    'views.keep': 'Guardar vista',
    'views.where': 'Se guarda en este navegador, para su cuenta.',
    'views.saved': 'Vista guardada: {name}',
    'views.full': 'Se pueden guardar {n} vistas. Quite una antes.',
    'views.new.one': '{n} cambio desde su última visita',
    'views.new.other': '{n} cambios desde su última visita',
  },
  {
    'views.triage': 'Triage this view',
    'views.title': 'Saved views',
    'views.save': 'Save this view',
    'views.remove': 'Remove the saved view',
    'views.removed': 'View removed',
    'views.name': 'Name',
    'views.keep': 'Save view',
    'views.where': 'It is stored in this browser, for your account.',
    'views.saved': 'View saved: {name}',
    'views.full': 'You can save {n} views. Remove one first.',
    'views.new.one': '{n} change since your last visit',
    'views.new.other': '{n} changes since your last visit',
  },
)
