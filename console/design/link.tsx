import type { MouseEvent, ReactNode } from 'react'
import { toHref, navigate } from '../base/router.ts'

/** A link within the console. */
export function Link(props: {
  to: string
  query?: URLSearchParams
  className?: string
  current?: boolean
  children: ReactNode
}) {
  const { to, query, className, current, children } = props
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    navigate(to, query)
  }
  return (
    <a
      href={toHref(to, query)}
      className={className}
      aria-current={current === true ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  )
}
