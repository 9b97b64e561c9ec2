import { Component, type ReactNode } from 'react'
import { ErrorNotice } from './notice.tsx'

/** Contains the error of a screen, so that the others keep working. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children
    // A chunk that an older page requests may no longer exist: only a reload helps.
    return <ErrorNotice error={this.state.error} onRetry={() => location.reload()} />
  }
}
