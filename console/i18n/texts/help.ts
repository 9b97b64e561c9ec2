import { addTexts } from '../dictionary.ts'

/** How each screen works, in a sentence. */
export const help = addTexts({
  'help.guide': ['Leer más en la guía', 'Read more in the guide'],
  'help.home': [
    'Inicio reúne lo que le espera y lo que cambió desde su última visita: cada número abre la lista de esos nombres.',
    'The home screen gathers what waits for you and what has changed since your last visit: each number opens the list of these names.',
  ],
  'help.dominios': [
    'Escriba palabras o filtros como largo:4, elija una fila con las flechas y use r (revisión) o d (descartar); z deshace.',
    'Type words or filters such as length:4, choose a row with the arrow keys and mark it with r (review) or d (discard); z undoes it.',
  ],
  'help.triaje': [
    'Muestra los nombres sin decidir, uno por uno y reservados para usted por diez minutos: use r (revisión), d (descartar) o espacio (visto); z vuelve atrás.',
    'It shows undecided names one by one, held for you for ten minutes: use r (review), d (discard) or space (seen); z goes back.',
  ],
  'help.agregar': [
    'Pegue nombres o direcciones web: verá cuáles son nuevos antes de guardarlos, y z deshace.',
    'Paste names or web addresses: you see which are new before they are stored, and z undoes it.',
  ],
  'help.importar': [
    'Elija una lista de NIC Chile: verá qué cambiaría antes de importarla.',
    'Choose a list of the registry: you see what it would change before it is imported.',
  ],
  'help.descartados': [
    'Los nombres descartados se borran a los siete días y quedan aquí: las listas no los agregan de nuevo hasta que los olvide.',
    'Discarded names are purged after seven days and stay here: lists do not add them again until you forget them.',
  ],
  'help.reglas': [
    'Una regla oculta nombres del triaje y de las alertas, o los etiqueta: vea antes de guardarla cuáles cumplen sus filtros.',
    'A rule hides names from triage and watches, or tags them: before you save it, see which match its filters.',
  ],
  'help.actividad': [
    'Lo que cambió su cuenta en las últimas 24 horas: cada cambio se puede deshacer, mientras nadie lo haya cambiado después.',
    'What your account changed in the last 24 hours: each change can be undone, unless someone has changed it since.',
  ],
  'help.cifras': [
    'Cuenta los nombres que cumplen los filtros: inscripciones y eliminaciones por día, largos y agentes.',
    'It counts the names that match the filters: registrations and deletions per day, lengths and agents.',
  ],
  'help.campanas': [
    'Reúne los nombres que alguien inscribió juntos: abra un grupo para verlo en la tabla, con sus días como filtro.',
    'It gathers names that someone registered together: open a group to see it in the table, filtered by its days.',
  ],
  'help.vigilancias': [
    'Una alerta avisa por mensaje, correo o canal Atom cuando un nombre nuevo cumple sus filtros.',
    'An alert notifies by message, mail or Atom feed when a new name matches its filters.',
  ],
  'help.imagenes': [
    'Suba imágenes con el botón, arrastrándolas o pegándolas; al abrir una verá su enlace y sus transformaciones. Las que borre quedan siete días en la papelera, y z deshace.',
    'Upload images with the button, by dropping or pasting them; open one for its link and its transformations. Those you delete stay in the trash for seven days, and z undoes it.',
  ],
  'help.espacio': ['Muestra cuánto ocupan las imágenes y cuánto queda de su cuota.', 'It shows how much the images take and how much of the quota is left.'],
  'help.claves': [
    'Cree claves con sus límites para personas y programas: cada una se muestra una sola vez.',
    'Create keys with their limits for people and programs: each one is shown only once.',
  ],
  'help.auditoria': [
    'Muestra quién cambió claves, límites y reglas, y quién borró: lo último está arriba, y una cuenta abre solo lo suyo.',
    'It shows who changed keys, limits and rules, and who deleted something: the latest is on top, and an account opens only its own entries.',
  ],
  'help.sistema': [
    'Muestra la salud del servicio, sus colas y cachés, y de dónde viene cada ajuste.',
    'It shows the health of the service, its queues and caches, and the source of each setting.',
  ],
  'keys.title': ['Atajos de teclado', 'Keyboard shortcuts'],
  'keys.on': ['Usar atajos de una sola letra', 'Use single-letter shortcuts'],
  'keys.search': ['Buscar', 'Search'],
  'keys.move': ['Moverse por la tabla', 'Move through the table'],
  'keys.open': ['Abrir los detalles', 'Open details'],
  'keys.review': ['Marcar o desmarcar para revisión', 'Mark or unmark for review'],
  'keys.discard': ['Descartar o restaurar', 'Discard or restore'],
  'keys.selectRange': ['Seleccionar hasta aquí', 'Select up to here'],
  'keys.reviewThis': ['Marcar para revisión y seguir', 'Mark for review and continue'],
  'keys.discardThis': ['Descartar y seguir', 'Discard and continue'],
  'keys.leaveThis': ['Dejar como está y seguir', 'Leave as it is and continue'],
  'keys.note': ['Escribir una nota', 'Write a note'],
  'keys.back': ['Volver al anterior', 'Back to the previous name'],
  'keys.space': ['Espacio', 'Space'],
  'keys.pageUp': ['Re Pág', 'Page Up'],
  'keys.pageDown': ['Av Pág', 'Page Down'],
  'keys.home': ['Inicio', 'Home'],
  'keys.end': ['Fin', 'End'],
  'keys.shiftX': ['Mayús X', 'Shift X'],
  'keys.zoom': ['Acercar y alejar', 'Zoom in and out'],
  'keys.pan': ['Mover las imágenes ampliadas', 'Move the enlarged images'],
  'keys.next': ['Detalles siguientes y anteriores', 'Next and previous details'],
  'keys.help': ['Esta ayuda', 'This help'],
})
