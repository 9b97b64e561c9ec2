import { addTexts, inBoth } from '../dictionary.ts'

/** The form that a key is pasted into. */
export const signIn = inBoth(
  {
    'sign.title': 'Entrar a Catalejo',
    'sign.text': 'Pegue su clave de API. La consola detecta para qué servicio es.',
    'sign.key': 'Clave de API',
    'sign.remember': 'Recordarme en este equipo',
    'sign.rememberHint': 'Si no, la clave se olvida al cerrar la pestaña.',
    'sign.enter': 'Entrar',
    'sign.checking': 'Comprobando…',
    'sign.revoked': 'La clave de {service} ya no es válida. Pegue una nueva.',
    'sign.opened': 'Clave de {service} agregada',
    'sign.notKept': 'El navegador no deja guardarla: habrá que pegarla otra vez al recargar la página.',
  },
  {
    'sign.title': 'Sign in to Catalejo',
    'sign.text': 'Paste your API key. The console detects which service it is for.',
    'sign.key': 'API key',
    'sign.remember': 'Remember me on this computer',
    'sign.rememberHint': 'Otherwise the key is forgotten when the tab closes.',
    'sign.enter': 'Sign in',
    'sign.checking': 'Checking…',
    'sign.revoked': 'The key for {service} is no longer valid. Paste a new one.',
    'sign.opened': 'Key for {service} added',
    'sign.notKept':
      'The browser does not allow storing it: you will have to paste it again after reloading the page.',
  },
)

addTexts(signIn)
