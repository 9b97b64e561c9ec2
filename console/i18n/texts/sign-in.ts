import { addTexts } from '../dictionary.ts'

/** The form that a key is pasted into. */
export const signIn = addTexts({
  'sign.title': ['Entrar a Catalejo', 'Sign in to Catalejo'],
  'sign.text': ['Pegue su clave de API. La consola detecta para qué servicio es.', 'Paste your API key. The console detects which service it is for.'],
  'sign.key': ['Clave de API', 'API key'],
  'sign.remember': ['Recordarme en este equipo', 'Remember me on this computer'],
  'sign.rememberHint': ['Si no, la clave se olvida al cerrar la pestaña.', 'Otherwise the key is forgotten when the tab closes.'],
  'sign.enter': ['Entrar', 'Sign in'],
  'sign.checking': ['Comprobando…', 'Checking…'],
  'sign.revoked': ['La clave de {service} ya no es válida. Pegue una nueva.', 'The key for {service} is no longer valid. Paste a new one.'],
  'sign.unfinished': [
    'Esta clave es de otra cuenta, y hay trabajo sin terminar. Espere, o salga y entre con ella.',
    'This key belongs to another account, and there is unfinished work. Wait, or sign out and sign in with it.',
  ],
  'sign.opened': ['Clave de {service} agregada', 'Key for {service} added'],
  'sign.opening': ['Abriendo la sesión…', 'Signing in…'],
  'sign.out': ['Cerró la sesión de la consola.', 'You have signed out of the console.'],
  'sign.again': ['Volver a entrar', 'Sign in again'],
  'sign.byProxy': ['No se pudo abrir la sesión: {reason}', 'Could not sign in: {reason}'],
  'sign.proxyAway': ['la página de ingreso pide identificarse otra vez', 'the sign-in page asks who you are again'],
  'sign.orKey': ['También puede pegar una clave de API.', 'You can also paste an API key.'],
  'sign.notKept': [
    'El navegador no deja guardarla: habrá que pegarla otra vez al recargar la página.',
    'The browser does not allow storing it: you will have to paste it again after reloading the page.',
  ],
})
