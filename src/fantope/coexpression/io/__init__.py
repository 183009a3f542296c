"""What an analysis reads and writes: expression and samples in, tables and AnnData out, and certificates checked."""
