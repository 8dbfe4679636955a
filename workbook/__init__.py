"""The classroom around the engine: builder, judge, viewers, site. The engine never imports it."""
