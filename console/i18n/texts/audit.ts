import { addTexts } from '../dictionary.ts'

/** The audit log, with a text for each action. */
export const audit = addTexts({
  'audit.explained': [
    'Cambios de claves, límites y reglas, borrados y cambios masivos del último año. Nadie puede modificar ni quitar una entrada. Elija una cuenta para ver solo lo que hizo; cli: antecede a quien usó un comando.',
    'Changes of keys, limits and rules, deletions and bulk changes of the last year. Nobody can modify or remove an entry. Choose an account to see only what it did; cli: precedes the user of a command.',
  ],
  'audit.all': ['todas', 'all'],
  'audit.time': ['Fecha', 'Date'],
  'audit.key': ['Clave', 'Key'],
  'audit.action': ['Acción', 'Action'],
  'audit.subject': ['Detalle', 'Details'],
  'audit.none': ['Aún no hay entradas', 'No entries yet'],
  'audit.noMatch': ['Esta cuenta no tiene entradas', 'This account has no entries'],
  'audit.did.key.create': ['Creó una clave', 'Created a key'],
  'audit.did.key.revoke': ['Revocó una clave', 'Revoked a key'],
  'audit.did.session.open': ['Entró a través del proxy', 'Signed in through the proxy'],
  'audit.did.limits.set': ['Cambió límites', 'Changed limits'],
  'audit.did.secret.renew': ['Renovó el secreto de los enlaces', 'Renewed the secret of links'],
  'audit.did.preset.set': ['Definió o quitó un preset', 'Defined or removed a preset'],
  'audit.did.watermark.set': ['Definió o quitó una marca de agua', 'Defined or removed a watermark'],
  'audit.did.claims.release': ['Liberó los nombres tomados', 'Released claimed names'],
  'audit.did.rule.create': ['Creó una regla', 'Created a rule'],
  'audit.did.rule.update': ['Cambió una regla', 'Changed a rule'],
  'audit.did.rule.delete': ['Quitó una regla', 'Deleted a rule'],
  'audit.did.watch.delete': ['Borró una alerta', 'Deleted an alert'],
  'audit.did.dismissed.forget': ['Olvidó nombres descartados', 'Forgot dismissed names'],
  'audit.did.image.trash': ['Envió una imagen a la papelera', 'Moved an image to the trash'],
  'audit.did.image.restore': ['Restauró una imagen', 'Restored an image'],
  'audit.did.image.delete': ['Borró una imagen', 'Deleted an image'],
  'audit.did.bulk.start': ['Inició un cambio masivo', 'Started a bulk change'],
  'audit.did.bulk.undo': ['Deshizo un cambio masivo', 'Undid a bulk change'],
})
