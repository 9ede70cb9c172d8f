"""Pure drawing: values in, plotly figures or text out. No Streamlit, no device, no state."""
