import { Component, type ReactNode } from 'react'
import { Fault } from '../design/parts.tsx'

/** A screen that breaks does not take the others along. */
export class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children
    // A part of the console that an older page asks for may be gone: only the whole page heals that.
    return <Fault error={this.state.error} onRetry={() => location.reload()} />
  }
}
