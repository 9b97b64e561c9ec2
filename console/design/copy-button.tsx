import { useEffect, useState } from 'react'
import { t } from '../i18n/index.ts'
import { Icon } from './icon.tsx'

const SHOWN_MS = 1_600

export function CopyButton(props: { text: string; label?: string; isPlain?: boolean }) {
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    if (!isDone) return
    const timer = setTimeout(() => setDone(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isDone])
  const label = props.label ?? t('app.copy')
  return (
    <button
      type="button"
      className={props.isPlain === true ? 'button quiet' : 'button'}
      onClick={() => void copyText(props.text).then(setDone)}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      <span aria-live="polite">{isDone ? t('app.copied') : label}</span>
    </button>
  )
}

/** Without https there is no clipboard for scripts, only the old command. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    const isDone = document.execCommand('copy')
    area.remove()
    return isDone
  }
}
