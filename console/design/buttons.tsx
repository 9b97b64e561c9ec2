import { useEffect, useState, type ComponentProps } from 'react'
import { showError, showToast } from './toasts.tsx'
import { t } from '../i18n/index.ts'
import { Button, Icon, onFirstClick } from './elements.tsx'

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
      onClick={() => void copy(props.text).then(setDone)}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      <span aria-live="polite">{isDone ? t('app.copied') : label}</span>
    </button>
  )
}

/** Copies a text, or says that the browser does not allow it. */
export async function copy(text: string): Promise<boolean> {
  const isDone = await copyText(text)
  if (!isDone) showToast(t('app.notCopied'), { isError: true })
  return isDone
}

/** Without https there is no clipboard for scripts, only the old command. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const focused = document.activeElement
    const area = document.createElement('textarea')
    area.value = text
    // What is outside an open dialog cannot be selected.
    const place = focused?.closest('dialog') ?? document.body
    place.append(area)
    area.select()
    const isDone = document.execCommand('copy')
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return isDone
  }
}

interface RequestButtonProps extends Omit<ComponentProps<typeof Button>, 'onClick' | 'isBusy'> {
  /** What it requests is under way already. */
  readonly isPending?: boolean
  readonly onRequest: () => Promise<unknown>
}

/** A button that is at work until its request has ended, and reports why that failed. */
export function RequestButton({ isPending = false, onRequest, ...rest }: RequestButtonProps) {
  const [isBusy, setBusy] = useState(false)
  const isOff = isBusy || isPending
  const request = async () => {
    setBusy(true)
    await onRequest().catch(showError)
    setBusy(false)
  }
  return (
    <Button
      {...rest}
      isBusy={isOff}
      aria-disabled={isOff}
      onClick={onFirstClick(() => isOff || void request())}
    />
  )
}
