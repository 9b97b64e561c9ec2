import type { Texts } from '../dictionary.ts'

/** Saved views. */
export const views = {
  'views.triage': ['Triar esta vista', 'Triage this view'],
  'views.title': ['Vistas guardadas', 'Saved views'],
  'views.save': ['Guardar esta vista', 'Save this view'],
  'views.remove': ['Quitar la vista guardada', 'Remove the saved view'],
  'views.removed': ['Vista quitada', 'View removed'],
  'views.name': ['Nombre', 'Name'],
  'views.keep': ['Guardar vista', 'Save view'],
  'views.where': [
    'Se guarda en este navegador, para su cuenta.',
    'It is stored in this browser, for your account.',
  ],
  'views.saved': ['Vista guardada: {name}', 'View saved: {name}'],
  'views.full': [
    'Se pueden guardar {n} vistas. Quite una antes.',
    'You can save {n} views. Remove one first.',
  ],
  'views.new.one': ['{n} cambio desde su última visita', '{n} change since your last visit'],
  'views.new.other': ['{n} cambios desde su última visita', '{n} changes since your last visit'],
} as const satisfies Texts
